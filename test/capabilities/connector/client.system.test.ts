/** The official client of the protocol, over a socket, in each revision that is served. */
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ARCHIVE_MCP_TOOLS, MCP_TOOLS } from '../../../src/core/contract/mcp_tools.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { API } from '../../capabilities.ts';
import { delivery, NOW_US } from '../../core/http/support.ts';
import { startServer, withDirectory } from '../../e2e/support.ts';
import { needs, toolObstacle } from '../../needs.ts';

const test = suite('mcp/client');
const check = needs(test, toolObstacle('@modelcontextprotocol/client'));

const ID = 170666293697970325n;

interface Connected {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
}

async function connect(url: string, revision: string, path = '/mcp'): Promise<Connected> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const transport = new StreamableHTTPClientTransport(new URL(path, url));
  const isStateless = revision >= '2026';
  const client = new Client(
    { name: 'nearsky-tests', version: '1' },
    isStateless ? { versionNegotiation: { mode: { pin: revision } } } : { supportedProtocolVersions: [revision] },
  );
  await client.connect(transport);
  return { client, transport };
}

async function assertTools(client: Client, expected: readonly object[]): Promise<void> {
  const { tools } = await client.listTools();
  assert.equal(
    tools.map(({ name, title }) => ({ name, title })),
    expected,
  );
}

async function useTools(client: Client): Promise<void> {
  await assertTools(client, MCP_TOOLS);
  const calls = [
    { name: MCP_TOOLS[0].name, arguments: { identifiers: [`${ID}`, 'SN 2026abc'] } },
    { name: MCP_TOOLS[1].name, arguments: { ra_deg: 150, dec_deg: 2 } },
    { name: MCP_TOOLS[2].name },
  ];
  const answers = [];
  for (const call of calls) {
    const { content, isError } = await client.callTool(call);
    assert.is(isError, false);
    const [item] = content;
    answers.push(JSON.parse(item?.type === 'text' ? item.text : ''));
  }
  const [lookup, near, about] = answers;
  assert.is(lookup.results[0].objects[0].diaObjectId, `${ID}`);
  assert.is(lookup.results[1].status, 'resolver_unavailable');
  assert.equal([near.objects_total, near.objects[0].diaObjectId], [1, `${ID}`]);
  assert.is(about.database, 'ok');
  const wrong = await client.callTool({ name: MCP_TOOLS[0].name, arguments: { identifiers: [] } });
  assert.is(wrong.isError, true);
}

async function useArchive(client: Client): Promise<void> {
  await assertTools(client, [
    ...MCP_TOOLS,
    ...ARCHIVE_MCP_TOOLS,
    ...API.tools.map(({ name, title }) => ({ name, title })),
  ]);
  // The client checks answers against the schema of the tool.
  const area = await client.callTool({ name: ARCHIVE_MCP_TOOLS[0].name, arguments: { area: 'CIRCLE 150 2 0.1' } });
  const listed = area.structuredContent as { objects_total: number; objects: { diaObjectId: string }[] };
  assert.equal([listed.objects_total, listed.objects[0]!.diaObjectId], [1, `${ID}`]);
  const recent = await client.callTool({ name: ARCHIVE_MCP_TOOLS[1].name });
  assert.equal((recent.structuredContent as typeof listed).objects, []);
}

check('each revision: connect, list, call, leave [P7]', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    await new Writer(store).ingest([delivery(ID)], NOW_US);
    await store.close();
    const variables = { MCP_IP_RATE: '1000/s burst 1000' };
    const server = await startServer(['serve', '--data', directory, '--port', '0', '--no-crossmatch'], variables);
    for (const revision of ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']) {
      const { client, transport } = await connect(server.url, revision);
      const isStateless = revision >= '2026';
      assert.is(client.getNegotiatedProtocolVersion(), revision);
      assert.is(transport.sessionId === undefined, isStateless, `a session in ${revision}`);
      assert.is(client.getServerVersion()?.name, 'nearsky');
      assert.ok(client.getInstructions());
      await useTools(client);
      if (!isStateless) await client.ping();
      await client.close();
      const archive = await connect(server.url, revision, '/mcp/archive');
      await useArchive(archive.client);
      await archive.client.close();
    }
    assert.is((await server.stop()).code, 0);
  }),
);

check('over a socket, the address of the connection tells callers apart', () =>
  withDirectory(async directory => {
    const variables = { MCP_IP_RATE: '0.001/s burst 1' };
    const server = await startServer(['serve', '--data', directory, '--port', '0', '--no-crossmatch'], variables);
    const { client } = await connect(server.url, '2025-11-25');
    const call = async () => (await client.callTool({ name: MCP_TOOLS[2].name })).isError;
    assert.equal([await call(), await call()], [false, true]);
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const other = new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
      requestInit: { headers: { 'X-Real-Ip': '192.0.2.9' } },
    });
    const behindProxy = new Client({ name: 'nearsky-tests', version: '1' });
    await behindProxy.connect(other);
    assert.is((await behindProxy.callTool({ name: MCP_TOOLS[2].name })).isError, false);
    await client.close();
    await behindProxy.close();
    await server.stop();
  }),
);

test.run();
