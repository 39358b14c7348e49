/** The tools at /mcp/archive (docs/contract.md, Connector). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ARCHIVE_MCP_TOOLS, MCP_TOOLS } from '../../../src/core/contract/mcp_tools.ts';
import { API } from '../../capabilities.ts';
import { startApp } from '../../core/http/support.ts';
import { version } from '../../directory.ts';
import { duckdbObstacle } from '../../needs.ts';
import { Connection, EMPTY, type Sending, STATELESS_META, UNLIMITED } from '../connector/support.ts';

const test = suite('archive_connector/protocol');

let archive: Connection;
let close: () => Promise<void>;

test.before(async () => {
  const started = await startApp(EMPTY, UNLIMITED);
  archive = new Connection(started.app, '/mcp/archive');
  close = started.close;
});

test.after(() => close());

test('/mcp/archive has the tools of the contract, then its own [Connector]', async () => {
  const namesAt = async (to: Connection, sending?: Sending) => {
    const params = sending ? { _meta: STATELESS_META } : undefined;
    const { tools } = (await to.request('tools/list', params, sending)).body.result;
    return tools.map(({ name }: { name: string }) => name);
  };
  const further = [...ARCHIVE_MCP_TOOLS, ...API.tools]
    .map(({ name }) => name)
    .filter(name => name !== 'query_rubin_archive' || duckdbObstacle() === undefined);
  const stateless = { headers: { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' } };
  for (const sending of [undefined, stateless]) {
    assert.equal(await namesAt(archive, sending), [...MCP_TOOLS.map(({ name }) => name), ...further]);
  }
  for (const { name } of [...ARCHIVE_MCP_TOOLS, ...API.tools]) {
    assert.not('error' in (await archive.request('tools/call', { name, arguments: {} })).body, name);
  }
  assert.is((await archive.call('describe_crossmatch_service')).answer.service_version, version);
  const { status, headers, text } = await archive.app.get('/mcp/archive');
  assert.equal([status, headers.get('Allow'), text], [405, 'POST', '']);
});

test('tools/list: names, titles, schemas and hints, in order [Connector]', async () => {
  const { body } = await archive.request('tools/list', { cursor: 'ignored' });
  assert.equal(Object.keys(body.result), ['tools']);
  const { tools } = body.result;
  assert.equal(
    tools.map(({ name, title }: { name: string; title: string }) => ({ name, title })),
    [...MCP_TOOLS, ...ARCHIVE_MCP_TOOLS, ...API.tools.map(({ name, title }) => ({ name, title }))].filter(
      ({ name }) => name !== 'query_rubin_archive' || duckdbObstacle() === undefined,
    ),
  );
  for (const [at, tool] of tools.entries()) {
    const output = at < MCP_TOOLS.length ? [] : ['outputSchema'];
    assert.equal(Object.keys(tool), ['name', 'title', 'description', 'inputSchema', ...output, 'annotations']);
    assert.equal(tool.annotations, {
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    assert.not.match(JSON.stringify(tool), /additionalProperties|x-unit/);
    assert.is(tool.inputSchema.type, 'object');
  }
});

test.run();
