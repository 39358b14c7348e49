/** POST /api/area?response=table: all objects as one table, against the pages of a walk. */
import { gzipSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  crossmatched,
  delivery,
  eventually,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
  type TestApp,
  type World,
} from '../../core/http/support.ts';
import { writeUniqFits } from '../../core/http/uniq_fits.ts';

/** More than two parts have. */
const OBJECTS = 2300;
const SKY = '0/0-11';

async function fill(world: World): Promise<void> {
  const deliveries = Array.from({ length: OBJECTS }, (_, i) =>
    delivery(BigInt(i) + 2n ** 62n, {
      position: { ra: (i * 137.508) % 360, dec: (Math.asin((2 * (i + 0.5)) / OBJECTS - 1) * 180) / Math.PI },
      reliability: i % 10 === 7 ? 0.9 : 0.1,
    }),
  );
  await world.writer.ingest(deliveries, NOW_US);
  for (let i = 0; i < OBJECTS; i += 50) {
    const payload = { ruwe: i / 10 };
    await crossmatched(world, BigInt(i) + 2n ** 62n, searched('gaia_dr3'), [match('gaia_dr3', `${i}`, { payload })]);
  }
}

const test = suite<{ running: Running }>('http/area_table');

test.before(async context => {
  context.running = await startApp(fill);
});
test.after(async ({ running }) => running.close());

async function send(app: TestApp, query: string, body: string | Uint8Array, client = '192.0.2.9'): Promise<Response> {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : (body as Uint8Array<ArrayBuffer>);
  const headers = { 'X-Forwarded-For': client };
  const request = new Request(`http://nearsky.test/api/area?${query}`, { method: 'POST', body: bytes, headers });
  return app.app.fetch(request);
}

async function whole(app: TestApp, query: string, body: string | Uint8Array): Promise<Uint8Array> {
  const response = await send(app, `response=table&${query}`, body);
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.is(response.status, 200, new TextDecoder().decode(bytes.subarray(0, 300)));
  return bytes;
}

/** The lines of all pages as CSV, the first of them the names of the columns. */
async function paged(app: TestApp, query: string, body: string | Uint8Array): Promise<string[]> {
  const lines: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const response = await send(app, `format=csv&${query}${cursor}`, body);
    const [head, ...rows] = (await response.text()).trimEnd().split('\n');
    assert.is(response.status, 200, head);
    lines.push(...(lines.length === 0 ? [head!] : []), ...rows);
    const next: string | undefined = /[?&]cursor=([^&>]+)/.exec(response.headers.get('Link') ?? '')?.[1];
    cursor = next === undefined ? null : `&cursor=${next}`;
  }
  return lines;
}

const map = writeUniqFits({
  cells: Array.from({ length: 48 }, (_, i) => i),
  order: 1,
  density: Array.from({ length: 48 }, (_, i) => (i * 7) % 11),
});

for (const [name, query, body] of [
  ['the sky', 'detail=full', SKY],
  ['a circle', 'detail=position', 'CIRCLE 40 10 70'],
  ['a map of probability', 'detail=ids&level=0.8', map],
  ['a map with gzip', 'detail=ids&level=0.8', gzipSync(map)],
  ['filters that leave out most', 'detail=matches&gaia_dr3.ruwe_min=220', SKY],
  ['filters that leave out some', 'detail=ids&reliability_min=0.5', SKY],
  ['a window without objects', 'detail=ids&end=2000-01-01', SKY],
] as const)
  test(`${name}: the rows of all pages in their order [Areas]`, async ({ running: { app } }) => {
    const expected = await paged(app, `page_size=311&${query}`, body);
    const text = new TextDecoder().decode(await whole(app, query, body));
    assert.equal(text.trimEnd().split('\n'), expected);
    if (name === 'the sky') assert.is(expected.length, OBJECTS + 1);
  });

test('every format has the same rows [Areas]', async ({ running: { app } }) => {
  const query = 'detail=matches&reliability_max=0.5';
  const lines = await paged(app, query, SKY);
  const ids = lines.slice(1).map(line => line.split(',')[0]!);
  assert.ok(ids.length > 2000);
  const parquet = await whole(app, `format=parquet&${query}`, SKY);
  const rows = await parquetReadObjects({ file: parquet.buffer as ArrayBuffer });
  assert.equal(
    rows.map(({ diaObjectId }) => `${diaObjectId}`),
    ids,
  );
  const arrow = tableFromIPC(await whole(app, `format=arrow&${query}`, SKY));
  assert.equal([...arrow.getChild('diaObjectId')!].map(String), ids);
  const ndjson = new TextDecoder().decode(await whole(app, `format=ndjson&${query}`, SKY));
  assert.equal(
    ndjson
      .trimEnd()
      .split('\n')
      .map(line => /\d{19}/.exec(line)![0]),
    ids,
  );
  const votable = new TextDecoder().decode(await whole(app, `format=votable&${query}`, SKY));
  assert.is(votable.match(/<VOTABLE/g)!.length, 1);
  assert.match(votable, /<\/VOTABLE>\s*$/);
  assert.equal(
    votable.match(/<TR>\s*<TD>\d+/g)!.map(row => /\d+/.exec(row)![0]),
    ids,
  );
  // The statistics cover all pages.
  const about = JSON.parse(arrow.schema.metadata.get('nearsky')!);
  assert.equal(about.area, { kind: 'moc', level: null });
  for (const key of ['count', 'next_cursor', 'page_size', 'provenance_sets']) assert.not.ok(key in about, key);
});

test('no objects are a table in each format, and no bytes as lines [Areas]', async ({ running: { app } }) => {
  for (const format of ['csv', 'parquet', 'arrow', 'votable'])
    assert.ok((await whole(app, `format=${format}&end=2000-01-01`, SKY)).length > 0, format);
  assert.is((await whole(app, 'format=ndjson&end=2000-01-01', SKY)).length, 0);
});

test('headers; the format is CSV unless a table is asked for [Areas]', async ({ running: { app } }) => {
  const answer = await app.post('/api/area?response=table&detail=ids', SKY, null);
  assert.match(answer.headers.get('Content-Type')!, /^text\/csv/);
  assert.match(answer.headers.get('Content-Disposition')!, /nearsky-area\.csv/);
  assert.ok(answer.headers.get('X-As-Of'));
  assert.equal([answer.headers.get('Link'), answer.headers.get('X-Row-Count')], [null, null]);
  const accepting = new Request('http://nearsky.test/api/area?response=table', {
    method: 'POST',
    body: SKY,
    headers: { Accept: 'application/x-ndjson' },
  });
  const accepted = await app.app.fetch(accepting);
  assert.match(accepted.headers.get('Content-Type')!, /ndjson/);
  await accepted.body!.cancel();
});

test('what is wrong is named before the table begins', async ({ running: { app } }) => {
  const refused = async (query: string, body: string | Uint8Array, param: string, says: RegExp) => {
    const answer = await app.post(`/api/area?response=table&${query}`, body, null);
    assert.equal([answer.status, answer.body.param], [400, param]);
    assert.match(answer.body.message, says);
  };
  const { body } = await app.post('/api/area?page_size=1', SKY, null);
  await refused(`cursor=${body.next_cursor}`, SKY, 'cursor', /all pages/);
  await refused('format=json', SKY, 'format', /one of csv/);
  await refused('', 'CIRCLE 1 2', 'area', /3 numbers/);
  await refused('level=0.5', SKY, 'level', /not a probability map/);
  await refused('', gzipSync(map).subarray(0, 60), 'area', /gzip is damaged/);
  await refused('', gzipSync(new Uint8Array(2 ** 26 + 1)), 'area', /67108864/);
});

test('so many tables are sent at once, half of them to one client; one that nobody reads any more gives its slot to another [Areas; Time budget]', async ({
  running: { app },
}) => {
  const open: ReadableStreamDefaultReader<Uint8Array>[] = [];
  const begin = async (client: string) => {
    const { status, body } = await send(app, 'response=table', SKY, client);
    if (status !== 200) return status;
    const reader = body!.getReader();
    await reader.read();
    open.push(reader);
    return status;
  };
  for (const client of ['192.0.2.1', '2001:db8::1']) {
    for (let n = 0; n < 4; n++) assert.is(await begin(client), 200);
    assert.is(await begin(client), 503);
  }
  assert.is(await begin('192.0.2.3'), 503, 'all are taken');
  assert.is((await app.post('/api/area?response=count', SKY, null)).body.total, OBJECTS);
  // One that is read to its end, and one that is left.
  await open.pop()!.cancel();
  for (const reader of open.splice(3)) while (!(await reader.read()).done);
  await eventually('there are places again', async () => {
    const { status, text } = await app.post('/api/area?response=table&detail=ids', SKY, null);
    return (status === 200 && text.trimEnd().split('\n').length === OBJECTS + 1) || undefined;
  });
  for (const reader of open) await reader.cancel();
});

test.run();
