/** The requests that the connector accepts over HTTP, in the order of its checks (docs/contract.md, Connector). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startApp } from '../../core/http/support.ts';
import { Connection, EMPTY, type Reply, UNLIMITED } from './support.ts';

const test = suite('mcp/http');

const MAX_BODY_BYTES = 131_072;
const ALLOWED = 'https://chat.example';
const { app, close } = await startApp(EMPTY, {
  ...UNLIMITED,
  MCP_ALLOWED_ORIGINS: `${ALLOWED}, http://localhost:6274/`,
});
const connection = new Connection(app);
test.after(close);

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

function assertRefused({ status, headers, body }: Reply, expected: number, code: number): void {
  assert.is(status, expected);
  assert.is(headers.get('Content-Type'), 'application/json');
  assert.equal(Object.keys(body), ['jsonrpc', 'id', 'error']);
  assert.is(body.jsonrpc, '2.0');
  assert.is(body.id, null);
  assert.is(body.error.code, code);
  assert.type(body.error.message, 'string');
}

test('an origin that is not on the list is refused before anything else is looked at [Connector]', async () => {
  const headers = { Origin: 'https://evil.example' };
  assertRefused(await connection.post(PING, { headers }), 403, -32600);
  assertRefused(await connection.send({ method: 'GET' }, { headers }), 403, -32600);
  assertRefused(await connection.post('{', { headers: { ...headers, 'Content-Type': 'text/plain' } }), 403, -32600);
  for (const origin of ['null', 'http://nearsky.test', `${ALLOWED}:8443`, 'http://chat.example', '']) {
    assert.is((await connection.post(PING, { headers: { Origin: origin } })).status, 403, origin);
  }
});

test('no origin, and one on the list, pass', async () => {
  assert.is((await connection.post(PING)).status, 200);
  assert.is((await connection.post(PING, { headers: { Origin: ALLOWED } })).status, 200);
  assert.is((await connection.post(PING, { headers: { Origin: 'http://localhost:6274' } })).status, 200);
});

test('another method than POST is 405 without a body', async () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const { status, headers, text } = await connection.send({ method });
    assert.equal([status, headers.get('Allow'), headers.get('Content-Type'), text], [405, 'POST', null, ''], method);
  }
});

test('a preflight is answered; what may then be sent is not decided there', async () => {
  const headers = { Origin: ALLOWED, 'Access-Control-Request-Method': 'POST' };
  const reply = await connection.send({ method: 'OPTIONS' }, { headers });
  assert.is(reply.status, 204);
  assert.is(reply.headers.get('Access-Control-Allow-Methods'), 'POST');
});

test('another Content-Type than JSON', async () => {
  for (const type of ['text/plain', 'application/json-rpc', 'application/x-www-form-urlencoded', '']) {
    assertRefused(await connection.post(PING, { headers: { 'Content-Type': type } }), 400, -32600);
  }
  assert.is(
    (await connection.post(PING, { headers: { 'Content-Type': 'Application/JSON; charset=utf-8' } })).status,
    200,
  );
});

test('a body that is too large or no JSON [JSON bodies]', async () => {
  const bodies = ['', '   ', '{', '{"jsonrpc":"2.0",}', "{'a':1}", '[NaN]', '{"id":Infinity}', '{"id":-Infinity}'];
  for (const body of [...bodies, '['.repeat(100_000)]) assertRefused(await connection.post(body), 400, -32700);
  assertRefused(
    await connection.send({ method: 'POST', body: new Uint8Array([0x22, 0xff, 0x22]) }, JSON_TYPE),
    400,
    -32700,
  );
  const pad = (bytes: number) => JSON.stringify(PING).padEnd(bytes, ' ');
  assertRefused(await connection.post(pad(MAX_BODY_BYTES + 1)), 400, -32700);
  assert.is((await connection.post(pad(MAX_BODY_BYTES))).status, 200);
});

const JSON_TYPE = { headers: { 'Content-Type': 'application/json' } };

test('a batch, even of one or none', async () => {
  for (const batch of [[], [PING], [PING, PING]]) {
    const reply = await connection.post(batch);
    assertRefused(reply, 400, -32600);
    assert.match(reply.body.error.message, 'batch');
  }
});

test('what is no message', async () => {
  const messages = [
    '"ping"',
    'null',
    '1',
    '{}',
    '{"id":1,"method":"ping"}',
    '{"jsonrpc":2.0,"id":1,"method":"ping"}',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '{"jsonrpc":"2.0","id":null,"method":"ping"}',
    '{"jsonrpc":"2.0","id":true,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1.0,"method":"ping"}',
    '{"jsonrpc":"2.0","id":1e2,"method":"ping"}',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}',
    '{"jsonrpc":"2.0","id":[1],"method":"ping"}',
    '{"jsonrpc":"2.0","id":1}',
    '{"jsonrpc":"2.0","id":1,"method":null}',
    '{"jsonrpc":"2.0","id":1,"method":7}',
    '{"jsonrpc":"2.0","result":{}}',
    '{"jsonrpc":"2.0","id":null,"result":{}}',
  ];
  for (const message of messages) assertRefused(await connection.post(message), 400, -32600);
});

test('params that are no object', async () => {
  for (const params of ['[]', 'null', '1', '"x"']) {
    assertRefused(await connection.post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`), 400, -32602);
    assertRefused(await connection.post(`{"jsonrpc":"2.0","method":"x","params":${params}}`), 400, -32602);
  }
});

test('a notification, whatever it is, and a response of the client: 202 without a body [Connector]', async () => {
  const messages = [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'no/such/method', params: {} },
    { jsonrpc: '2.0', method: 'tools/call', params: { name: 'no such tool' } },
    { jsonrpc: '2.0', id: 1, result: {} },
    { jsonrpc: '2.0', id: 'a', error: { code: 1, message: 'x' } },
  ];
  for (const message of messages) {
    const { status, text, headers } = await connection.post(message);
    assert.equal([status, text, headers.get('Content-Type')], [202, '', null], JSON.stringify(message));
  }
});

test('the id comes back as it was sent', async () => {
  for (const id of ['0', '-7', '9223372036854775809', '"a"', '""', '"é\\u0000"']) {
    const { status, text, body } = await connection.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
    assert.is(status, 200);
    assert.equal(body.id, JSON.parse(id));
    if (!id.startsWith('"')) assert.match(text, `"id": ${id},`);
    assert.equal(body.result, {});
  }
});

test('Accept and MCP-Protocol-Version are not looked at', async () => {
  for (const headers of [{ Accept: 'text/html' }, { 'MCP-Protocol-Version': '1999-01-01' }, { Accept: '' }]) {
    assert.is((await connection.post(PING, { headers: headers as Record<string, string> })).status, 200);
  }
});

test('there are no documents about authorization, and no path with a slash at its end', async () => {
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server', '/mcp/']) {
    assert.is((await app.get(path)).status, 404, path);
  }
});

test.run();
