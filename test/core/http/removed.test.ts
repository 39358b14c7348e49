/** Removed objects: every answer is that of a service which never had them, and walks go on. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FACTS } from '../facts.ts';
import { fillWith, ids, right, wrong } from './removed.ts';
import { eventually, type TestApp, withApp } from './support.ts';

const test = suite('http/removed');
const LOOKED_UP = [
  { kind: 'id', diaObjectId: 9 },
  { kind: 'id', diaObjectId: 10 },
  { kind: 'position', ra: 150, dec: 2, radius_arcsec: 1 },
];
const WINDOW = 'start=2026-09-21T00:00:00Z&end=2026-09-22T00:00:00Z';

const ASKED: readonly ((app: TestApp) => Promise<string>)[] = [
  ...[
    '/api/objects/9',
    '/api/objects/10',
    '/api/cone?ra=150&dec=2&radius_arcsec=5&detail=full&page_size=1000',
    '/api/cone?ra=150&dec=2&radius_arcsec=5&reliability_min=0.5&page_size=20',
    `/api/recent-crossmatches?${WINDOW}&page_size=1000`,
  ].map(path => async (app: TestApp) => (await app.get(path)).text),
  async app => (await app.post('/api/lookup', { inputs: LOOKED_UP, response: 'count' })).text,
  ...FACTS.flatMap(({ places = [] }) => places).map(({ path, body }) => async (app: TestApp) => {
    const answer = body === undefined ? app.get(path) : app.post(path, body, null);
    return (await answer).text;
  }),
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
    assert.not.ok(app.logged.some(([event]) => /stale|damaged|failed/.test(event)));
  });
});

test('walks go on while objects are removed: what stays is listed once', async () => {
  const walks = [
    { path: '/api/cone?ra=150&dec=2&radius_arcsec=5&' },
    { path: `/api/recent-crossmatches?${WINDOW}&` },
    ...FACTS.flatMap(({ walks = [] }) => walks),
  ];
  for (const { path, body: area, isPending } of walks)
    await withApp(fillWith(ids), async (app, { writer }) => {
      const listed: string[] = [];
      let left = wrong.toReversed();
      for (let cursor = ''; ; ) {
        const page = `${path}page_size=7${cursor}`;
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
      const wanted = isPending
        ? right.filter(id => id % 2n === 1n)
        : path.includes('recent')
          ? right.filter(id => id % 2n === 0n)
          : right;
      for (const id of wanted) assert.ok(listed.includes(`${id}`), `${path}: ${id}`);
    });
});

test.run();
