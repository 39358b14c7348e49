/** Removed objects: every answer is that of a service which never had them, walks go on, and the streams say so. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type EventReader, readEvents } from './event_reader.ts';
import {
  crossmatched,
  delivery,
  eventually,
  match,
  NOW_US,
  searched,
  type TestApp,
  type World,
  withApp,
} from './support.ts';

const test = suite('http/removed');
const COUNT = 60;
const ids = Array.from({ length: COUNT }, (_, i) => BigInt(i + 1));
const isWrong = (id: bigint) => id % 3n === 1n;
const right = ids.filter(id => !isWrong(id));
const wrong = ids.filter(isWrong);
const AREA = 'CIRCLE 150 2 0.001';
const LOOKED_UP = [
  { kind: 'id', diaObjectId: 9 },
  { kind: 'id', diaObjectId: 10 },
  { kind: 'position', ra: 150, dec: 2, radius_arcsec: 1 },
];
// The objects are at one position, so the nearest is the one with the lowest id, which is removed.
const TABLE = 'ra,dec\n150,2\n10,20\n';
const WINDOW = 'start=2026-09-21T00:00:00Z&end=2026-09-22T00:00:00Z';

const fillWith = (some: readonly bigint[]) => async (world: World) => {
  for (const id of some) {
    await world.writer.ingest([delivery(id, { reliability: Number(id) / COUNT })], NOW_US + Number(id));
    if (id % 2n === 0n) await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', `${id % 7n}`)]);
  }
};

const ASKED: readonly ((app: TestApp) => Promise<string>)[] = [
  ...[
    '/api/objects/9',
    '/api/objects/10',
    '/api/cone?ra=150&dec=2&radius_arcsec=5&detail=full&page_size=1000',
    '/api/cone?ra=150&dec=2&radius_arcsec=5&reliability_min=0.5&page_size=20',
    `/api/recent-crossmatches?${WINDOW}&page_size=1000`,
    `/api/objects?${WINDOW}&page_size=1000`,
    '/api/objects?response=count',
    `/api/objects?response=count&${WINDOW}&status=coincident_sources`,
    '/api/sources/gaia_dr3/2',
    '/vo/scs/objects?RA=150&DEC=2&SR=0.002&VERB=3',
    '/vo/scs/gaia_dr3?RA=150&DEC=2&SR=0.002',
  ].map(path => async (app: TestApp) => (await app.get(path)).text),
  async app => (await app.post('/api/area?page_size=1000', AREA)).text,
  async app => (await app.post('/api/area?response=count', AREA)).text,
  async app => (await app.post('/api/area?response=count&status=crossmatch_pending', AREA)).text,
  async app => (await app.post('/api/lookup', { inputs: LOOKED_UP, response: 'count' })).text,
  async app => (await app.post('/api/crossmatch?radius_arcsec=1&find=all', TABLE, null)).text,
  async app => (await app.post('/api/crossmatch?radius_arcsec=1', TABLE, null)).text,
];

/** The crossmatch times and what follows from the time of the request differ. */
const timeless = (text: string) =>
  text.replaceAll(/"(?:as_of|crossmatched_at|next_cursor)": "[^"]*"/g, '').replaceAll(/<TD>2026-[^<]*<\/TD>/g, '');

async function answersOf(app: TestApp): Promise<string[]> {
  const texts: string[] = [];
  for (const ask of ASKED) texts.push(timeless(await ask(app)));
  for (const text of texts) assert.not.match(text, /service_unavailable|"invalid_input": [1-9]|ERROR/);
  return texts;
}

test('every answer is that of a service which never had them, at once, and after the index has followed', async () => {
  let expected: string[] = [];
  await withApp(fillWith(right), async app => {
    expected = await answersOf(app);
  });
  await withApp(fillWith(ids), async (app, world) => {
    assert.not.equal(await answersOf(app), expected);
    await world.writer.remove(wrong, 'wrong');
    // The generation still has the objects.
    assert.equal(await answersOf(app), expected);
    await eventually('the index has followed', async () => {
      const { text } = await app.get('/metrics');
      return text.includes(`nearsky_index_sequence ${world.store.lastSequence()}\n`) || undefined;
    });
    assert.equal(await answersOf(app), expected);
    assert.is((await app.result('/api/objects/10')).status, 'not_in_service');
    const map = await eventually('the map has followed', async () => {
      const { status, body } = await app.get('/api/sky-map?resolution=1');
      return status === 200 && body.total === right.length ? body : undefined;
    });
    assert.is(map.by_status.crossmatch_pending[0], right.filter(id => id % 2n === 1n).length);
    assert.not.ok(app.logged.some(([event]) => /stale|damaged|failed/.test(event)));
  });
});

test('walks go on while objects are removed: what stays is listed once', async () => {
  const walks: readonly [path: string, body?: string][] = [
    ['/api/cone?ra=150&dec=2&radius_arcsec=5&page_size=7'],
    [`/api/objects?page_size=7&${WINDOW}`],
    [
      `/api/objects?page_size=7&time_field=event_time&status=crossmatch_pending&start=2000-01-01T00:00:00Z&end=${WINDOW.slice(-20)}`,
    ],
    [`/api/recent-crossmatches?page_size=7&${WINDOW}`],
    ['/api/area?page_size=7', AREA],
  ];
  for (const [path, area] of walks)
    await withApp(fillWith(ids), async (app, { writer }) => {
      const listed: string[] = [];
      let left = wrong.toReversed();
      for (let cursor = ''; ; ) {
        const page = `${path}${cursor}`;
        const { status, text, body } = await (area === undefined ? app.get(page) : app.post(page, area));
        assert.is(status, 200, text);
        const objects = body.objects ?? body.results[0].objects;
        for (const { diaObjectId_str } of objects) listed.push(diaObjectId_str);
        if (!body.next_cursor) break;
        cursor = `&cursor=${body.next_cursor}`;
        // From both ends of the walk, and the object at which the page ended.
        await writer.remove([...left.slice(0, 2), ...left.slice(-2), BigInt(listed.at(-1)!)], 'wrong');
        left = left.slice(2, -2);
      }
      assert.is(new Set(listed).size, listed.length, path);
      const wanted = path.includes('pending')
        ? right.filter(id => id % 2n === 1n)
        : path.includes('recent')
          ? right.filter(id => id % 2n === 0n)
          : right;
      for (const id of wanted) assert.ok(listed.includes(`${id}`), `${path}: ${id}`);
    });
});

const read = (app: TestApp, path: string, count: number, after?: string) =>
  readEvents(app, path, count, after === undefined ? {} : { headers: { 'Last-Event-ID': after } });

const changes = (reader: EventReader) =>
  reader.texts
    .map(text => JSON.parse(text))
    .map(({ change, diaObjectId, status, ra }) => `${change} ${diaObjectId} ${status} ${ra}`);
const removed = 'removed 1 not_in_service 150';
const of2 = ['stored 2 crossmatch_pending 150', 'crossmatched 2 coincident_sources 150'];

test('the stream of objects says what was removed, in its area; neither stream has more of it [Stream of objects]', () =>
  withApp(
    async world => {
      for (const id of [1n, 2n]) {
        await world.writer.ingest([delivery(id)], NOW_US + Number(id));
        await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', '1'), match('skymapper_dr4', '2')]);
      }
    },
    async (app, world) => {
      const matches = '/api/stream/matches';
      const objects = '/api/stream/objects?from=beginning';
      // The thread keeps these events for the readers that come later.
      await read(app, `${matches}?from=beginning`, 4);
      await read(app, objects, 4);
      await world.writer.remove([1n], 'wrong');
      assert.equal(changes(await read(app, objects, 3)), [...of2, removed]);
      await world.writer.ingest([delivery(1n, { position: { ra: 10, dec: 20 } })], NOW_US + 9);
      await crossmatched(world, 1n, searched('gaia_dr3'), [match('gaia_dr3', '3')]);
      // A reader that has the first match of the removed object gets all of the next one's.
      const { texts } = await read(app, matches, 3, '1.0.1');
      assert.equal(
        texts
          .map(text => JSON.parse(text))
          .map(({ diaObjectId, catalog_source_id }) => [diaObjectId, catalog_source_id]),
        [
          [2, '1'],
          [2, '2'],
          [1, '3'],
        ],
      );
      const restored = ['stored 1 crossmatch_pending 10', 'crossmatched 1 coincident_sources 10'];
      assert.equal(changes(await read(app, objects, 5)), [...of2, removed, ...restored]);
      const area = encodeURIComponent('CIRCLE 150 2 1');
      assert.equal(changes(await read(app, `${objects}&area=${area}`, 3)), [...of2, removed]);
      assert.equal(changes(await read(app, `${objects}&status=crossmatch_pending`, 2)), [of2[0], restored[0]]);
      assert.equal(changes(await read(app, `${objects}&reliability_min=0.5`, 4)), [...of2, ...restored]);
    },
  ));

test.run();
