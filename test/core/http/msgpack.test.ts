/** `Accept: application/msgpack`: the same answers in MessagePack. */
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Unpackr } from 'msgpackr';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { preferredFormat } from '../../../src/core/http/accept.ts';
import { crossmatched, delivery, loadRegistry, match, NOW_US, type Running, searched, startApp } from './support.ts';

interface Context {
  running: Running;
}

const test = suite<Context>('http/msgpack');
const TIMES = Number(process.env.TEST_TOGETHER ?? 15);

const ID = 2n ** 63n - 1n;
const WHOLE = { depth: null, maxStringLength: null, maxArrayLength: null } as const;
const unpackr = new Unpackr({ useRecords: false, int64AsType: 'bigint' });

test.before(async context => {
  context.running = await startApp(async world => {
    await world.writer.ingest([delivery(ID), delivery(6n)], NOW_US);
    const payload = { parallax: 0.5, flags: 2n ** 53n + 1n, name: 'é"\n', missing: null };
    await crossmatched(world, ID, searched('gaia_dr3'), [match('gaia_dr3', '1', { payload })]);
    await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc', redshift: 0.25 }]);
  });
});
test.after(({ running }) => running.close());

const accept = (headers: Record<string, string> = {}) => ({ Accept: 'application/msgpack', ...headers });

function parsed(json: string): Record<string, unknown> {
  return JSON.parse(json, (_key: string, value: unknown, context?: { source?: string }) => {
    const isWide = typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(context?.source ?? '');
    return isWide ? BigInt(context!.source!) : value;
  });
}

test('every query, and counts, say the same in both', async ({ running: { app } }) => {
  const cone = '/api/cone?ra=150&dec=2&radius_arcsec=10';
  const inputs = [
    { kind: 'id', diaObjectId: `${ID}` },
    { kind: 'position', ra: 150, dec: 2 },
    { kind: 'tns', name: 'SN 2026abc' },
    { kind: 'id', diaObjectId: 'x\\"é' },
  ];
  const body = JSON.stringify({ inputs, radius_arcsec: 5, detail: 'full', filters: { 'gaia_dr3.parallax_min': 0.1 } });
  const post = { method: 'POST', body, headers: { 'Content-Type': 'application/json' } };
  const requests: [string, { headers?: Record<string, string> }][] = [
    [`/api/objects/${ID}?detail=full`, {}],
    ['/api/objects/5', {}],
    [`${cone}&detail=full`, {}],
    [`${cone}&page_size=1`, {}],
    [`${cone}&response=count&reliability_min=0.1`, {}],
    ['/api/tns/2026abc', {}],
    ['/api/recent-crossmatches?start=2026-09-21&end=2026-09-22&detail=full', {}],
    ['/api/lookup', post],
  ];
  for (const [path, init] of requests) {
    const url = `http://nearsky.test${path}`;
    const json = await app.app.fetch(new Request(url, init));
    const packed = await app.app.fetch(new Request(url, { ...init, headers: accept(init.headers) }));
    assert.equal([json.status, packed.status], [200, 200], path);
    assert.is(packed.headers.get('Content-Type'), 'application/msgpack');
    for (const answer of [json, packed]) assert.is(answer.headers.get('Vary'), 'Accept, Accept-Encoding', path);
    const bytes = new Uint8Array(await packed.arrayBuffer());
    // The time of the request is in these two.
    const { as_of, next_cursor, ...value } = unpackr.unpack(bytes);
    const { as_of: asOf, next_cursor: cursor, ...expected } = parsed(await json.text());
    assert.equal([typeof as_of, typeof next_cursor], [typeof asOf, typeof cursor]);
    assert.is(inspect(value, WHOLE), inspect(expected, WHOLE), path);
  }
});

test('asked at once, few and many, in whatever formats, each gets what it gets alone', async ({ running: { app } }) => {
  const paths = [
    `/api/objects/${ID}?detail=full`,
    '/api/objects/6',
    '/api/cone?ra=150&dec=2&radius_arcsec=10&detail=full&format=csv',
    `/api/objects/${ID}?detail=full&format=arrow`,
    '/api/tns/2026abc',
    '/vo/cone/objects?RA=150&DEC=2&SR=0.1',
    '/vo/moc/objects.fits',
    '/api/objects/7',
  ];
  const ask = async (path: string, headers: Record<string, string>) => {
    const response = await app.app.fetch(new Request(`http://nearsky.test${path}`, { headers }));
    return [response.status, Buffer.from(await response.arrayBuffer()).toString('latin1')] as const;
  };
  /** On a slow machine, this many are refused at first. */
  const answered = async (path: string, headers: Record<string, string>) => {
    for (;;) {
      const answer = await ask(path, headers);
      if (answer[0] !== 503) return answer;
      await sleep(50);
    }
  };
  const requests = paths.flatMap(path => [[path, {}] as const, [path, accept()] as const]);
  const alone = [];
  for (const [path, headers] of requests) alone.push(await ask(path, headers));
  assert.ok(alone.filter(([status]) => status === 200).length >= requests.length - 4);
  for (const times of [1, TIMES]) {
    const all = Array.from({ length: times }, () => requests).flat();
    const answers = await Promise.all(all.map(([path, headers]) => answered(path, headers)));
    for (const [i, answer] of answers.entries()) assert.equal(answer, alone[i % alone.length], all[i]![0]);
  }
});

test('errors are JSON', async ({ running: { app } }) => {
  const request = new Request('http://nearsky.test/api/objects/x', { headers: accept() });
  const response = await app.app.fetch(request);
  assert.equal([response.status, response.headers.get('Content-Type')], [400, 'application/json']);
  assert.is(((await response.json()) as { code: string }).code, 'invalid_parameter');
});

test('who gets it', () => {
  const yes = [
    'application/msgpack',
    'Application/MsgPack; q=0.5',
    'application/json;q=0.9, application/msgpack',
    '*/*, application/msgpack',
    'application/msgpack;q=0.5, application/json;q=0.4, */*',
  ];
  const no = [
    null,
    '',
    '*/*',
    'application/json',
    'application/msgpack;q=0.5, application/json',
    'application/*',
    'application/msgpack;q=0.5, */*',
    'application/msgpack;q=0.5, application/*;q=0.6, */*;q=0.1',
    'application/msgpack;q=0',
    'application/msgpack;q=2',
  ];
  for (const text of yes) assert.is(preferredFormat(text), 'msgpack', text);
  for (const text of no) assert.is(preferredFormat(text), 'json', `${text}`);
});

test.run();
