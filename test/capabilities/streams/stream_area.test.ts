/** POST /api/stream/matches: the matches of the objects in an area, or near the positions of a table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { pixel29, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_AREA_TEXT_BYTES } from '../../../src/core/contract/limits.ts';
import { EventReader } from '../../core/http/event_reader.ts';
import { delivery, NOW_US, type Running, startApp, type TestApp, withApp } from '../../core/http/support.ts';
import { writeUniqFits } from '../../core/http/uniq_fits.ts';
import { provenance } from '../../core/store/support.ts';
import { withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { anywhere, HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { crossmatch, FIRST_ID } from './support.ts';

const test = suite<{ running: Running }>('streams/area');
const PATH = '/api/stream/matches';

const random = seededRandom(41);
const objects = Array.from({ length: 600 }, (_, i) => ({
  id: FIRST_ID + BigInt(i),
  ...(i % 3 === 0
    ? anywhere(random)
    : offset(HARD_PLACES[i % HARD_PLACES.length]!, 3600 * 40 * random() ** 3, 7 * random())),
}));

test.before(async context => {
  context.running = await startApp(async ({ writer }) => {
    const unplaced = delivery(1n, { position: null });
    const deliveries = objects.map(({ id, ra, dec }) => delivery(id, { position: { ra, dec } }));
    await writer.ingest([unplaced, ...deliveries], NOW_US);
    for (let from = 0; from < objects.length; from += 120)
      await writer.recordCrossmatches(
        objects.slice(from, from + 120).map(({ id }) => crossmatch(id, 2)),
        provenance,
        1,
      );
  });
});
test.after(async ({ running }) => running.close());

async function open(
  app: TestApp,
  query: string,
  body?: string | Uint8Array,
  headers: Record<string, string> = {},
  path = PATH,
) {
  const init = body === undefined ? {} : { method: 'POST', body: body as Uint8Array<ArrayBuffer> };
  const response = await app.app.fetch(new Request(`http://nearsky.test${path}?${query}`, { ...init, headers }));
  if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
  const parts = response.body!.getReader();
  const reader = new EventReader();
  const gone = (async () => {
    for (let part = await parts.read(); !part.done; part = await parts.read()) reader.take(part.value);
  })();
  const close = async () => {
    await parts.cancel();
    await gone;
  };
  return { reader, close };
}

/** All events from the beginning until this many have arrived and no more follow. */
async function read(app: TestApp, count: number, query: string, body?: string | Uint8Array, lastId?: string) {
  const headers: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
  const { reader, close } = await open(app, `from=beginning&${query}`, body, headers);
  await reader.until(`${count} events, after ${reader.events.length}`, ({ events }) => events.length >= count);
  await new Promise(resolve => setTimeout(resolve, 30));
  await close();
  assert.is(reader.events.length, count);
  return reader;
}

const idsOf = (texts: readonly string[]) => texts.map(text => BigInt(/"diaObjectId":(\d+)/.exec(text)![1]!));

async function idsInArea(app: TestApp, body: string | Uint8Array, query = ''): Promise<bigint[]> {
  const { status, body: page, text } = await app.post(`/api/area?detail=ids&page_size=10000&${query}`, body, null);
  assert.is(status, 200, text);
  const found = page.objects.map((object: { diaObjectId_str: string }) => BigInt(object.diaObjectId_str));
  return found.filter((id: bigint) => id >= FIRST_ID).toSorted((a: bigint, b: bigint) => (a < b ? -1 : 1));
}

const density = Array.from({ length: 192 }, () => random() ** 6);
const map = writeUniqFits({ cells: density.map((_, i) => i), order: 2, density });
const cells = objects.filter((_, i) => i % 4 === 0).map(({ ra, dec }) => pixel29(ra, dec));

const AREAS: [name: string, body: string | Uint8Array, query?: string][] = [
  ['a circle', 'CIRCLE 200 -10 60'],
  ['a polygon across RA 0', 'POLYGON 350 -20 12 -25 20 18 345 25'],
  ['a polygon around the north pole', 'POLYGON 0 70 90 65 180 72 270 68'],
  ['a polygon around the south pole', 'POLYGON 0 -50 120 -45 240 -55'],
  ['a box', 'BOX 0 0 40 30'],
  ['a galactic circle', 'CIRCLE GALACTIC 122.9 27.1 30'],
  ['a MOC', `29/${cells.join(' ')}`],
  ['a MOC that another process reads', `29/${cells.join(' ')}`.padEnd(MAX_AREA_TEXT_BYTES + 1)],
  ['a MOC in JSON with gzip', gzipSync('{"1": [0, 1, 2, 17, 18, 40]}')],
  ['a map', map],
  ['half of a map', map, 'level=0.5'],
  ['nothing', '5/'],
];

test('the objects of a stream are those of /api/area [Stream of matches]', async ({ running: { app } }) => {
  for (const [name, body, query = ''] of AREAS) {
    const wanted = await idsInArea(app, body, query);
    assert.is(wanted.length > 0, name !== 'nothing', name);
    const { texts } = await read(app, 2 * wanted.length, query, body);
    assert.equal(
      idsOf(texts),
      wanted.flatMap(id => [id, id]),
      name,
    );
  }
});

test('an area as a text in the address, in a GET too; filters beside it [Stream of matches]', async ({
  running: { app },
}) => {
  const query = `area=${encodeURIComponent('CIRCLE 200 -10 60')}`;
  const inside = objects.filter(({ ra, dec }) => separationArcsec(200, -10, ra, dec) <= 60 * 3600).map(({ id }) => id);
  for (const body of [undefined, ''])
    assert.equal(
      idsOf((await read(app, 2 * inside.length, query, body)).texts),
      inside.flatMap(id => [id, id]),
    );
  const filtered = await read(app, inside.length, `${query}&catalog=gaia_dr3`);
  assert.equal(idsOf(filtered.texts), inside);
  assert.ok(filtered.texts.every(text => text.includes('"catalog_name":"gaia_dr3"')));
});

test('a client that comes again after any event gets the others [Stream of matches]', async ({ running: { app } }) => {
  const area = 'CIRCLE 0 90 12';
  const count = 2 * (await idsInArea(app, area)).length;
  const all = await read(app, count, '', area);
  assert.ok(count > 10);
  for (const at of [0, 1, 4, count - 2]) {
    const rest = await read(app, count - at - 1, '', area, all.events[at]!.id);
    assert.equal(rest.texts, all.texts.slice(at + 1));
  }
});

test('a table of positions with a radius: the objects at most that far from one of them [Stream of matches]', async ({
  running: { app },
}) => {
  const centres = [
    ...objects.filter((_, i) => i % 10 === 0).map(place => offset(place, 50 * random(), 7 * random())),
    { ra: 360, dec: 0 },
    { ra: 10, dec: 90 },
  ];
  const csv = `name,ra,dec\n${centres.map(({ ra, dec }, i) => `n${i},${ra},${dec}`).join('\n')}\n`;
  const votable = `<VOTABLE version="1.4"><RESOURCE><TABLE><FIELD name="a" ucd="pos.eq.ra" datatype="double" unit="deg"/><FIELD name="b" ucd="pos.eq.dec" datatype="double" unit="deg"/><DATA><TABLEDATA>${centres.map(({ ra, dec }) => `<TR><TD>${ra}</TD><TD>${dec}</TD></TR>`).join('')}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`;
  for (const radius of [25, 3600]) {
    const near = objects.filter(({ ra, dec }) =>
      centres.some(centre => separationArcsec(centre.ra, centre.dec, ra, dec) <= radius),
    );
    assert.ok(near.length > 20);
    for (const body of [csv, votable, gzipSync(csv)]) {
      const { texts } = await read(app, 2 * near.length, `radius_arcsec=${radius}`, body);
      assert.equal(
        idsOf(texts),
        near.flatMap(({ id }) => [id, id]),
        `${radius}`,
      );
    }
  }
});

test('a bad request is told what is wrong with it [Stream of matches]', async ({ running: { app } }) => {
  const cases: [query: string, body: string, param: string | undefined, says: RegExp][] = [
    ['', '', 'area', /area/],
    ['', 'ELLIPSE 1 2 3', 'area', /must be CIRCLE/],
    ['area=CIRCLE+1+2+3', 'CIRCLE 1 2 3', 'area', /two areas/],
    ['level=0.5', 'CIRCLE 1 2 3', 'level', /not a probability map/],
    ['level=2', 'CIRCLE 1 2 3', 'level', /level/],
    ['radius_arcsec=0', 'ra,dec\n1,2\n', 'radius_arcsec', /radius_arcsec/],
    ['radius_arcsec=3601', 'ra,dec\n1,2\n', 'radius_arcsec', /3600/],
    ['radius_arcsec=5', 'ra,dec\n1,2\n3,91\n', 'area', /row 2 has no valid position/],
    ['radius_arcsec=5', 'ra,dec\n', 'area', /no rows|empty/],
    ['radius_arcsec=5', 'x,y\n1,2\n', 'area', /x, y/],
    ['from=x', 'nonsense', 'from', /from/],
    ['catalog=x&from=x', 'nonsense', 'catalog', /catalog/],
  ];
  for (const [query, body, param, says] of cases) {
    const answer = await app.post(`${PATH}?${query}`, body, null);
    assert.equal([answer.status, answer.body.code, answer.body.param], [400, 'invalid_parameter', param], query + body);
    assert.match(answer.body.message, says);
  }
  assert.is((await app.get(`${PATH}?level=0.5`)).body.param, 'area');
});

test('more areas than the process may follow, or more than half for one client: 503 until one has gone [Stream of matches]', () =>
  withApp(
    async ({ writer }) => void (await writer.ingest([delivery(FIRST_ID)], NOW_US)),
    async app => {
      const area = 'CIRCLE 1 2 3';
      const from = (client: string) => ({ 'X-Forwarded-For': client });
      const refused = async (client: string) => {
        const answer = await app.get(PATH, { method: 'POST', body: area, headers: from(client) });
        assert.equal([answer.status, answer.body.code], [503, 'service_unavailable'], client);
        assert.match(answer.body.message, /follow an area/);
      };
      const one = await open(app, '', area, from('192.0.2.1'));
      await refused('192.0.2.1');
      const other = await open(app, '', area, from('192.0.2.2'));
      await refused('192.0.2.3');
      const plain = await open(app, '', undefined, from('192.0.2.1'));
      await one.close();
      const again = await open(app, '', area, from('192.0.2.1'));
      await Promise.all([other, plain, again].map(({ close }) => close()));
    },
    { NEARSKY_MAX_STREAM_AREAS: '2' },
  ));

const MODULES = 'astropy, healpy, ligo.skymap, mocpy';

interface ToolAreas {
  readonly positions: readonly [number, number][];
  readonly areas: readonly { kind: string; query: Record<string, string>; inside: readonly number[] }[];
}

needs(test, whyNoPython(MODULES))(
  '100 streams at once have the objects that mocpy, ligo.skymap and astropy find inside their areas',
  () =>
    withDirectory(async directory => {
      await runPython(pythonWith(MODULES)!, [fileURLToPath(new URL('stream_areas.py', import.meta.url)), directory]);
      const { positions, areas }: ToolAreas = JSON.parse(readFileSync(join(directory, 'areas.json'), 'utf8'));
      const deliveries = positions.map(([ra, dec], i) => delivery(FIRST_ID + BigInt(i), { position: { ra, dec } }));
      const half = deliveries.length >> 1;
      await withApp(
        async ({ writer }) => void (await writer.ingest(deliveries.slice(0, half), NOW_US)),
        async (app, { writer }) => {
          const streams: Awaited<ReturnType<typeof open>>[] = [];
          for (const [i, { query }] of areas.entries()) {
            const body = readFileSync(join(directory, `${i}`));
            const parameters = `${new URLSearchParams({ from: 'beginning', ...query })}`;
            // Of several clients: one may have half of the streams that follow an area.
            const headers = { 'X-Forwarded-For': `192.0.2.${i % 4}` };
            streams.push(await open(app, parameters, body, headers, '/api/stream/objects'));
          }
          await writer.ingest(deliveries.slice(half), NOW_US);
          await Promise.all(
            streams.map(({ reader }, i) => {
              const { kind, inside } = areas[i]!;
              return reader.until(
                `${inside.length} of area ${i}, a ${kind}`,
                ({ events }) => events.length >= inside.length,
              );
            }),
          );
          await new Promise(resolve => setTimeout(resolve, 300));
          for (const [i, { reader, close }] of streams.entries()) {
            await close();
            const found = idsOf(reader.texts).map(id => Number(id - FIRST_ID));
            assert.equal(
              found.toSorted((a, b) => a - b),
              areas[i]!.inside,
              `area ${i}, a ${areas[i]!.kind}`,
            );
          }
        },
      );
    }),
);

test.run();
