/** JSON bodies: which are refused, and that accepted ones are exact (docs/contract.md, JSON bodies). */

import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Budget } from '../../../src/core/base/budget.ts';
import { type ApiError, expectedErrorOf } from '../../../src/core/http/errors.ts';
import { readJsonBody } from '../../../src/core/http/json_body.ts';
import { type Running, startApp } from './support.ts';

const MAX_BODY_BYTES = 2_621_440;

const test = suite<{ running: Running }>('http/body');

test.before(async context => {
  context.running = await startApp(async () => {});
});

test.after(({ running }) => running.close());

const GOOD = '{"inputs": [{"kind": "id", "diaObjectId": 1}]}';

test('the media type', async ({ running: { app } }) => {
  const types = ['application/json', 'APPLICATION/Json', 'application/json; charset=utf-8', ' application/json ;x=y'];
  for (const type of types) assert.is((await app.post('/api/lookup', GOOD, type)).status, 200, type);
  const others = ['text/json', 'application/jsonp', 'application/json2', 'application/ld+json', 'text/plain', '*/*'];
  for (const type of [null, '', ';application/json', 'application/x-www-form-urlencoded', ...others]) {
    const { status, body } = await app.post('/api/lookup', 'no JSON', type);
    assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'Content-Type'], `${type}`);
  }
});

test('what is not JSON in UTF-8 is a fault of the body [JSON bodies]', async ({ running: { app } }) => {
  const bad: (string | Uint8Array)[] = [
    ...['', ' ', '\n', '{', '{"inputs": [}', "{'inputs': []}", '{"inputs": [1,]}', '{"a": 01}', '{"a": 1} x', '{a: 1}'],
    ...['{"radius_arcsec": NaN}', '{"radius_arcsec": Infinity}', '{"radius_arcsec": -Infinity}', '{"a": +1}'],
    ...['"\u0001"', '{"a": .5}', '{"a": 5.}', '// x\n{}', '\u00a0{}', 'undefined'],
    new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]),
    '['.repeat(100_000) + ']'.repeat(100_000),
    `{"inputs": ${'{"a":'.repeat(1100)}1${'}'.repeat(1100)}}`,
  ];
  for (const text of bad) {
    const { status, body } = await app.post('/api/lookup', text);
    assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'body'], String(text).slice(0, 40));
  }
});

test('a body of the largest size is read, one byte more is not [JSON bodies]', async ({ running: { app } }) => {
  const padded = (size: number) => GOOD + ' '.repeat(size - GOOD.length);
  assert.is((await app.post('/api/lookup', padded(MAX_BODY_BYTES))).status, 200);
  const { status, body } = await app.post('/api/lookup', padded(MAX_BODY_BYTES + 1));
  assert.equal([status, body.param], [400, 'body']);
});

test('a body of more values than a lookup can have is refused before it is parsed [JSON bodies]', async ({
  running: { app },
}) => {
  const many = (count: number) => `{"inputs": [${Array(count).fill('1').join()}]}`;
  const refusal = async (text: string) => {
    const { status, body } = await app.post('/api/lookup', text);
    return [status, body.param];
  };
  // The object, its name, the list, and a comma between two numbers.
  assert.equal(await refusal(many(99_998)), [400, 'inputs']);
  assert.equal(await refusal(many(99_999)), [400, 'body']);
  assert.equal(await refusal(many(1_300_000)), [400, 'body']);
  assert.equal(await refusal('['.repeat(2_600_000)), [400, 'body']);
  const commas = `{"inputs": [{"kind": "tns", "name": "\\"${',{[:'.repeat(100_000)}"}]}`;
  assert.is((await app.post('/api/lookup', commas)).status, 200);
});

function streamed(chunk: Uint8Array<ArrayBuffer>, chunks: number, onCancel: () => void): Request {
  let sent = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull: controller => (sent++ < chunks ? controller.enqueue(chunk) : undefined),
    cancel: onCancel,
  });
  const headers = { 'Content-Type': 'application/json' };
  return new Request('http://nearsky.test/api/lookup', {
    method: 'POST',
    body,
    headers,
    duplex: 'half',
  } as RequestInit);
}

async function errorOf(promise: Promise<unknown>): Promise<ApiError> {
  try {
    await promise;
  } catch (error) {
    const expected = expectedErrorOf(error);
    if (expected) return expected;
    throw error;
  }
  throw new Error('expected an error');
}

test('a body without end is not read to its end', async () => {
  let pulled = 0;
  const endless = streamed(new Uint8Array(100_000).fill(32), Number.POSITIVE_INFINITY, () => (pulled = 1));
  assert.is((await errorOf(readJsonBody(endless, new Budget(60)))).details.param, 'body');
  assert.is(pulled, 1, 'the rest is refused');
});

test('a body that arrives a byte at a time is refused after some seconds, however long it may take', async () => {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      await sleep(200);
      if (!cancelled) controller.enqueue(new Uint8Array([0x20]));
    },
    cancel: () => {
      cancelled = true;
    },
  });
  const headers = { 'Content-Type': 'application/json' };
  const request = new Request('http://nearsky.test/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
  assert.is((await errorOf(readJsonBody(request, new Budget(3600)))).code, 'request_timeout');
  assert.ok(cancelled);
});

test('a body that does not arrive within the budget is refused as late [P11]', async () => {
  let isCancelled = false;
  const stalled = streamed(new TextEncoder().encode('{"inputs":'), 1, () => (isCancelled = true));
  assert.is((await errorOf(readJsonBody(stalled, new Budget(0.05)))).code, 'request_timeout');
  assert.ok(isCancelled);
});

test('1 is an id and 1.0 is none [JSON bodies]', async ({ running: { app } }) => {
  const results = async (...literals: string[]) => {
    const inputs = literals.map(literal => `{"kind": "id", "diaObjectId": ${literal}}`).join(',');
    const { body } = await app.post('/api/lookup', `{"inputs": [${inputs}]}`);
    return body.results.map(({ status }: { status: string }) => status);
  };
  assert.equal(await results('1', '9223372036854775807', '-0'), Array(3).fill('not_in_service'));
  const bad = ['1.0', '1e0', '1E2', '9223372036854775808', '1.5', '-1', `1${'0'.repeat(5000)}`];
  assert.equal(await results(...bad), Array(bad.length).fill('invalid_input'));
});

test('the input is echoed as it was sent: literals, order of names, all digits', async ({ running: { app } }) => {
  const sent = [
    '{"kind": "id", "diaObjectId": 9223372036854775807}',
    '{"zzz": 1, "1": [1.0, 1E5, -0, 0.10, 123456789012345678901234567890, 1e400], "0": {"a": [], "": {}}}',
    '{"kind": "position", "ra": 150.0, "dec": 2.00, "radius_arcsec": 1e0}',
    '{"kind": "id", "diaObjectId": "\\u00e9 \\ud83d\\ude00 \\ud800 \\\\ \\" \\n \\u0000"}',
    '["a", null, true, false, [[[1.50]]]]',
    '1.0',
    'null',
    '"text"',
  ];
  const { text, body } = await app.post('/api/lookup', `{"inputs": [${sent.join(', ')}]}`);
  assert.is(body.results.length, sent.length);
  for (const input of sent) assert.match(text, `"input": ${input}, "normalized"`);
  assert.match(text, '"kind": "position", "ra": 150, "dec": 2, "radius_arcsec": 1}');
});

test('an unknown kind comes back with every character', async ({ running: { app } }) => {
  const { text } = await app.post('/api/lookup', '{"inputs": [{"kind": "\\ud800\\u00e9\\n"}]}');
  assert.match(text, '"index": 0, "kind": "\\ud800\\u00e9\\n", "input": {"kind": "\\ud800\\u00e9\\n"}');
});

test('errors have whole characters only, whatever they quote', async ({ running: { app } }) => {
  const inputs = '[{"kind": "id", "diaObjectId": 1, "\\udc00": 1}]';
  const bodies = ['{"\\ud800": 1}', `{"inputs": ${inputs}}`, `{"inputs": [], "detail": "${'x'.repeat(63)}😀"}`];
  for (const sent of bodies) {
    const { text, body } = await app.post('/api/lookup', sent);
    const { message, param } = body.results?.[0].error ?? body;
    assert.ok(message.isWellFormed() && param.isWellFormed(), text);
    assert.match(message, '\ufffd');
  }
});

test('of a repeated name the last value counts, in the place of the first', async ({ running: { app } }) => {
  const { text, body } = await app.post(
    '/api/lookup',
    '{"detail": "zzz", "inputs": 5, "inputs": [{"kind": "zzz", "diaObjectId": 1, "kind": "id"}], "detail": "ids"}',
  );
  assert.equal([body.detail, body.results[0].status], ['ids', 'not_in_service']);
  assert.match(text, '"input": {"kind": "id", "diaObjectId": 1}');
});

test.run();
