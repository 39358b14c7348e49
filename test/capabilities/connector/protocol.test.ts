/** Methods and revisions of the connector (docs/contract.md, Connector; decision P7). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ARCHIVE_MCP_TOOLS, MCP_TOOLS } from '../../../src/core/contract/mcp_tools.ts';
import { API } from '../../capabilities.ts';
import { startApp } from '../../core/http/support.ts';
import { version } from '../../directory.ts';
import { Connection, EMPTY, type Reply, type Sending, STATELESS_META, UNLIMITED, withConnector } from './support.ts';

const test = suite('mcp/protocol');

const { app, close } = await startApp(EMPTY, UNLIMITED);
const connection = new Connection(app);
test.after(close);

const ABOUT = { name: 'describe_crossmatch_service' };

test('initialize: a served revision is echoed, anything else is answered with the newest [Connector]', async () => {
  const answered = async (params?: unknown) =>
    (await connection.request('initialize', params)).body.result.protocolVersion;
  for (const revision of ['2025-03-26', '2025-06-18', '2025-11-25']) {
    assert.is(await answered({ protocolVersion: revision }), revision);
  }
  for (const asked of ['2024-11-05', '2026-07-28', '', 20251125, null]) {
    assert.is(await answered({ protocolVersion: asked }), '2025-11-25');
  }
  assert.is(await answered({}), '2025-11-25');
  assert.is(await answered(), '2025-11-25');
});

test('initialize: the result, and a session that is new each time', async () => {
  const { body, headers } = await connection.request('initialize', { protocolVersion: '2025-06-18' });
  const { capabilities, serverInfo, instructions } = body.result;
  assert.equal(Object.keys(body.result), ['protocolVersion', 'capabilities', 'serverInfo', 'instructions']);
  assert.equal(capabilities, { tools: { listChanged: false } });
  assert.equal(Object.keys(serverInfo), ['name', 'title', 'version']);
  assert.is(serverInfo.version, version);
  assert.ok(instructions.length > 50);
  const session = headers.get('Mcp-Session-Id')!;
  assert.match(session, /^[!-~]{32,}$/);
  assert.match(headers.get('Access-Control-Expose-Headers')!, 'Mcp-Session-Id');
  assert.is.not((await connection.request('initialize')).headers.get('Mcp-Session-Id'), session);
});

test('a blank version is that of the release', () =>
  withConnector(
    EMPTY,
    async other => assert.is((await other.request('initialize')).body.result.serverInfo.version, version),
    { APP_VERSION: ' ' },
  ));

test('only initialize gives a session [Headers]', async () => {
  for (const [method, params] of [['ping'], ['tools/list'], ['tools/call', ABOUT], ['nonsense']] as const) {
    assert.is((await connection.request(method, params)).headers.get('Mcp-Session-Id'), null, method);
  }
});

test('a method that there is not: an error with HTTP 200', async () => {
  for (const method of ['resources/list', 'prompts/list', 'logging/setLevel', 'constructor', '']) {
    const { status, body } = await connection.request(method);
    assert.equal([status, body.id, body.error.code], [200, 1, -32601], method);
    assert.not('result' in body);
  }
});

/** The tools of the contract, by name and in its order: written here anew, since the code must not change them. */
const OF_CONTRACT = ['lookup_rubin_transients', 'search_rubin_transients_near_position', 'describe_crossmatch_service'];

test('/mcp has the three tools of the contract, and no other [Connector]', async () => {
  const stateless = { headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' } };
  for (const sending of [undefined, stateless]) {
    const params = sending ? { _meta: STATELESS_META } : undefined;
    const { tools } = (await connection.request('tools/list', params, sending)).body.result;
    assert.equal(
      tools.map(({ name }: { name: string }) => name),
      OF_CONTRACT,
    );
  }
  for (const { name } of [...ARCHIVE_MCP_TOOLS, ...API.tools]) {
    const { body } = await connection.request('tools/call', { name, arguments: {} });
    assert.equal([body.error.code, body.error.message], [-32602, `Unknown tool: ${name}`]);
  }
  const { status, headers, text } = await app.get('/mcp');
  assert.equal([status, headers.get('Allow'), text], [405, 'POST', '']);
});

test('tools/list: names, titles, schemas and hints, in order [Connector]', async () => {
  const { body } = await connection.request('tools/list', { cursor: 'ignored' });
  assert.equal(Object.keys(body.result), ['tools']);
  const { tools } = body.result;
  assert.equal(
    tools.map(({ name, title }: { name: string; title: string }) => ({ name, title })),
    MCP_TOOLS,
  );
  for (const tool of tools) {
    assert.equal(Object.keys(tool), ['name', 'title', 'description', 'inputSchema', 'annotations']);
    assert.equal(tool.annotations, {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    assert.not.match(JSON.stringify(tool), /additionalProperties|x-unit/);
    assert.is(tool.inputSchema.type, 'object');
  }
  const [lookup, near, about] = tools.map((tool: { inputSchema: unknown }) => withoutDescriptions(tool.inputSchema));
  assert.equal(lookup.required, ['identifiers']);
  assert.equal(lookup.properties, {
    identifiers: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 100 },
  });
  assert.equal(near.required, ['ra_deg', 'dec_deg']);
  assert.equal(near.properties, {
    ra_deg: { type: 'number', minimum: 0, maximum: 360 },
    dec_deg: { type: 'number', minimum: -90, maximum: 90 },
    radius_arcsec: { type: 'number', exclusiveMinimum: 0, maximum: 60, default: 10 },
  });
  assert.equal(about, { type: 'object', properties: {} });
});

// biome-ignore lint/suspicious/noExplicitAny: JSON
function withoutDescriptions(schema: any): any {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key === 'description' ? undefined : value)));
}

test('the limits in the tools are those of the service [Connector]', () =>
  withConnector(
    EMPTY,
    async other => {
      const [lookup, near] = (await other.request('tools/list')).body.result.tools;
      assert.is(lookup.inputSchema.properties.identifiers.maxItems, 7);
      assert.match(lookup.description, /up to 7 /);
      assert.equal(
        [near.inputSchema.properties.radius_arcsec.maximum, near.inputSchema.properties.radius_arcsec.default],
        [5, 5],
      );
      assert.is((await other.call(lookup.name, { identifiers: Array(8).fill('1') })).isError, true);
    },
    { MCP_MAX_IDENTIFIERS: '7', API_MAX_CONE_RADIUS_ARCSEC: '5' },
  ));

test('tools/call needs no session: one that is missing, tampered with or made up does no harm [Connector]', async () => {
  const session = (await connection.request('initialize')).headers.get('Mcp-Session-Id')!;
  for (const sent of [session, `${session.slice(0, -1)}!`, 'made-up', '']) {
    const sending = { headers: { 'Mcp-Session-Id': sent } };
    assert.is((await connection.call(ABOUT.name, {}, sending)).isError, false);
  }
  assert.is((await connection.call(ABOUT.name)).isError, false);
});

test('tools/call: names and arguments that are none', async () => {
  for (const name of ['no_such_tool', 'toString', '', undefined, 7, null]) {
    const { status, body } = await connection.request('tools/call', { name });
    assert.equal([status, body.error.code], [200, -32602], String(name));
    if (typeof name === 'string') assert.match(body.error.message, name);
  }
  for (const args of [[], 'x', 1, true]) {
    const { status, body } = await connection.request('tools/call', { ...ABOUT, arguments: args });
    assert.equal([status, body.error.code], [200, -32602]);
  }
  for (const params of [ABOUT, { ...ABOUT, arguments: null }, { ...ABOUT, arguments: { any: 'thing' } }]) {
    assert.is((await connection.request('tools/call', params)).body.result.isError, false);
  }
});

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

function stateless(
  method: string,
  params: object = {},
  meta: object = STATELESS_META,
  sending?: Sending,
): Promise<Reply> {
  return connection.request(method, { ...params, _meta: meta }, sending);
}

test('stateless: server/discover names revisions, capabilities and the server, and may be cached', async () => {
  const { status, headers, body } = await stateless('server/discover');
  assert.equal([status, headers.get('Mcp-Session-Id')], [200, null]);
  const { resultType, supportedVersions, capabilities, instructions, ttlMs, cacheScope, _meta } = body.result;
  assert.equal([resultType, cacheScope], ['complete', 'public']);
  assert.equal(supportedVersions, ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26']);
  assert.equal(capabilities, { tools: { listChanged: false } });
  assert.ok(Number.isInteger(ttlMs) && ttlMs > 0 && instructions.length > 50);
  assert.is(_meta[SERVER_INFO].version, version);
});

test('stateless: tools are listed and called without initialize', async () => {
  const listed = (await stateless('tools/list')).body.result;
  const before = (await connection.request('tools/list')).body.result;
  assert.equal(listed.tools, before.tools);
  assert.equal([listed.resultType, listed.cacheScope, typeof listed.ttlMs], ['complete', 'public', 'number']);
  const called = (await stateless('tools/call', ABOUT)).body.result;
  assert.equal([called.resultType, called.isError], ['complete', false]);
  assert.ok(called._meta[SERVER_INFO].name);
  assert.is(JSON.parse(called.content[0].text).database, 'ok');
});

test('stateless: what the revision does not have is 404', async () => {
  for (const method of ['initialize', 'ping', 'subscriptions/listen', 'resources/list']) {
    const { status, body } = await stateless(method);
    assert.equal([status, body.id, body.error.code], [404, 1, -32601], method);
  }
});

test('stateless: a revision that is not served is refused with those that are', async () => {
  const meta = { ...STATELESS_META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
  const { status, body } = await stateless('tools/list', {}, meta);
  assert.equal([status, body.id, body.error.code], [400, 1, -32022]);
  assert.is(body.error.data.requested, '2099-01-01');
  assert.ok(body.error.data.supported.includes('2026-07-28'));
});

test('stateless: what _meta must have', async () => {
  const version = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
  const bad = [
    version,
    { ...version, 'io.modelcontextprotocol/clientCapabilities': 1 },
    { ...STATELESS_META, ...{ 'io.modelcontextprotocol/protocolVersion': 7 } },
  ];
  for (const meta of bad) {
    const { status, body } = await stateless('tools/list', {}, meta);
    assert.equal([status, body.id, body.error.code], [400, 1, -32602]);
  }
  for (const params of [{}, { _meta: {} }]) {
    const { status, body } = await connection.request('server/discover', params);
    assert.equal([status, body.error.code], [400, -32602]);
  }
});

test('stateless: headers that contradict the body are refused; those that say the same pass', async () => {
  const base64 = `=?base64?${Buffer.from(ABOUT.name).toString('base64')}?=`;
  const right = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': ABOUT.name };
  for (const headers of [right, { ...right, 'Mcp-Name': base64 }]) {
    assert.is((await stateless('tools/call', ABOUT, STATELESS_META, { headers })).status, 200);
  }
  const wrong = [
    { 'MCP-Protocol-Version': '2025-11-25' },
    { 'Mcp-Method': 'tools/list' },
    { 'Mcp-Method': 'Tools/Call' },
    { 'Mcp-Name': 'another' },
    { 'Mcp-Name': `=?base64?${Buffer.from('another').toString('base64')}?=` },
  ];
  for (const header of wrong) {
    const headers = { ...right, ...header } as Record<string, string>;
    const { status, body } = await stateless('tools/call', ABOUT, STATELESS_META, { headers });
    assert.equal([status, body.id, body.error.code], [400, 1, -32020], JSON.stringify(header));
  }
});

test('a request of an earlier revision may have a _meta of its own', async () => {
  const metas = [{ progressToken: 1 }, { 'io.modelcontextprotocol/protocolVersion': '2025-11-25' }];
  for (const _meta of metas) {
    const { status, body } = await connection.request('tools/list', { _meta });
    assert.equal([status, 'resultType' in body.result], [200, false]);
  }
});

test.run();
