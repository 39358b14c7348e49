/** Feeds: their entries are the events of the streams, and a poll without news has no body. */
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { API } from '../../capabilities.ts';
import { readEvents } from '../../core/http/event_reader.ts';
import { delivery, loadRegistry, NOW_US, type TestApp, type World, withApp } from '../../core/http/support.ts';
import { provenance } from '../../core/store/support.ts';
import { random } from '../../e2e/kill_support.ts';
import { crossmatch, FIRST_ID } from '../streams/support.ts';
import { entriesOf, linksOf, readFeed, subtitleOf } from './reader.ts';

const test = suite('feeds');
const at = (i: number) => FIRST_ID + BigInt(i);
/** Every seventh object has no position. */
const position = (i: number) => (i % 7 === 5 ? null : { ra: (40 * i + 350) % 360, dec: ((5 * i) % 160) - 80 });

async function ingest({ writer }: World, ...objects: readonly number[]): Promise<void> {
  const deliveries = objects.map(i => delivery(at(i), { position: position(i), reliability: (i % 10) / 10 }));
  await writer.ingest(deliveries, NOW_US + objects[0]! * 1e6);
}

/** Object `i` gets `i % 5` matches, and those that could not be read everywhere two. */
async function match({ writer }: World, objects: readonly number[], skipped?: string): Promise<void> {
  const results = objects.map(i => (skipped ? crossmatch(at(i), 2, skipped) : crossmatch(at(i), i % 5)));
  await writer.recordCrossmatches(results, provenance, NOW_US + 1e9 + objects[0]! * 1e6);
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

async function fill(world: World): Promise<void> {
  for (let i = 0; i < 150; i += 30) {
    await ingest(world, ...range(i, i + 30));
    await match(world, range(i, i + 10));
    await match(world, range(i + 10, i + 20), 'skymapper_dr4');
  }
  await match(world, [10, 11, 12, 13]);
}

const PATHS = [
  'matches?',
  'matches?catalog=gaia_dr3&separation_arcsec_max=0.2',
  'matches?reliability_min=0.5',
  `matches?area=${encodeURIComponent('CIRCLE 350 -60 40')}`,
  'objects?',
  'objects?status=no_coincident_source',
  'objects?catalog=delve_dr3_gold&reliability_min=0.4',
  `objects?status=coincident_sources&area=${encodeURIComponent('POLYGON 0 -60 120 -60 60 20')}`,
];

/** The events of a stream by their ids, the newest first; the feed of it must have as many. */
async function streamed(app: TestApp, path: string, count: number): Promise<string[]> {
  const { events } = await readEvents(app, `/api/stream/${path}&from=beginning`, count);
  return events.map(({ id }) => id).toReversed();
}

test('all pages together have the events of the stream with the same filters, each once [Feeds]', () =>
  withApp(fill, async app => {
    for (const path of PATHS) {
      const entries = await readFeed(app, `/feeds/${path}&limit=6`);
      assert.ok(entries.length > 6, path);
      assert.equal(
        entries.map(({ event }) => event),
        await streamed(app, path, entries.length),
        path,
      );
      assert.is(new Set(entries.map(({ id }) => id)).size, entries.length);
    }
  }));

test('polls beside a running ingest miss nothing, repeat nothing, and never change an entry [Feeds]', () =>
  withApp(
    world => ingest(world, 0, 1, 2),
    async (app, world) => {
      const read = PATHS.map(() => new Map<string, string>());
      const polls = PATHS.map(() => '');
      let [count, matched] = [3, 0];
      for (let round = 0; round < 30; round++) {
        const news = 1 + Math.floor(4 * random());
        if (random() < 0.5) await ingest(world, ...range(count, (count += news)));
        else if (matched + news <= count) await match(world, range(matched, (matched += news)));
        else if (matched > 0) await match(world, [Math.floor(matched * random())], 'skymapper_dr4');
        await settled(app, world);
        for (const [i, path] of PATHS.entries()) {
          if (random() < 0.5) continue;
          const headers = { 'If-None-Match': polls[i]! };
          const { status, text, headers: answered } = await app.get(`/feeds/${path}&limit=60`, { headers });
          polls[i] = answered.get('ETag')!;
          // What was found before and what is new make the same feed as a search without memory.
          const whole = await app.get(`/feeds/${path}&limit=60&until=${world.store.lastSequence()}`);
          if (status === 304) continue;
          const entries = entriesOf(text);
          assert.equal(entries, entriesOf(whole.text), path);
          for (const { event, xml } of entries) {
            assert.is(read[i]!.get(event) ?? xml, xml, 'an entry stays as it is');
            read[i]!.set(event, xml);
          }
        }
      }
      for (const [i, path] of PATHS.entries()) {
        for (const { event, xml } of entriesOf((await app.get(`/feeds/${path}&limit=500`)).text))
          read[i]!.set(event, xml);
        const ids = await streamed(app, path, read[i]!.size);
        assert.equal([...read[i]!.keys()].sort(), ids.sort(), path);
      }
    },
  ));

/** Waits until the service has read the journal. */
async function settled(app: TestApp, world: World): Promise<void> {
  const last = world.store.lastSequence();
  await app.get(`/api/objects?page_size=1&at=${last}`);
}

test('a poll without news gets 304, by ETag or by time, and one with news the feed [Feeds]', () =>
  withApp(fill, async (app, world) => {
    const path = '/feeds/matches?catalog=gaia_dr3';
    const first = await app.get(path);
    const [etag, modified] = ['ETag', 'Last-Modified'].map(name => first.headers.get(name)!);
    assert.is(first.headers.get('Cache-Control'), 'max-age=300');
    const poll = (headers: Record<string, string>) => app.get(path, { headers });
    for (const headers of [
      { 'If-None-Match': etag! },
      { 'If-None-Match': `W/${etag}, "other"` },
      { 'If-Modified-Since': modified! },
    ]) {
      const unchanged = await poll(headers);
      assert.is(unchanged.status, 304);
      assert.is(unchanged.text, '');
      for (const name of ['ETag', 'Last-Modified', 'Cache-Control'])
        assert.is(unchanged.headers.get(name), first.headers.get(name));
    }
    // The ETag decides if there are both.
    assert.is((await poll({ 'If-None-Match': '"other"', 'If-Modified-Since': modified! })).status, 200);
    await ingest(world, 1000);
    await settled(app, world);
    assert.is((await poll({ 'If-None-Match': etag! })).status, 304, 'an object without a match is no news');
    await match(world, [21]);
    await settled(app, world);
    assert.is((await poll({ 'If-None-Match': etag! })).status, 200);
    assert.is((await poll({ 'If-Modified-Since': modified! })).status, 200);
    const head = await app.get(path, { method: 'HEAD' });
    assert.is(head.status, 200);
    const gzip = await app.app.fetch(
      new Request(`http://nearsky.test${path}`, { headers: { 'Accept-Encoding': 'gzip' } }),
    );
    assert.is(gzip.headers.get('Content-Encoding'), 'gzip');
    assert.match(gunzipSync(new Uint8Array(await gzip.arrayBuffer())).toString(), '</feed>');
  }));

test('ids of entries do not depend on the host, and a removed object leaves one entry, of its removal [Feeds]', () =>
  withApp(
    async world => {
      await ingest(world, 1, 2);
      await match(world, [1, 2]);
    },
    async (app, world) => {
      const there = await app.app.fetch(new Request('https://elsewhere.org/feeds/objects'));
      const [here, other] = [(await app.get('/feeds/objects')).text, await there.text()];
      assert.is.not(here, other);
      assert.equal(
        entriesOf(here).map(({ id }) => id),
        entriesOf(other).map(({ id }) => id),
      );
      const feedId = (xml: string) => /<id>(.*)<\/id>/.exec(xml)![1];
      assert.is(feedId(here), feedId(other));
      await world.writer.remove([at(1)], 'a test');
      await settled(app, world);
      const { text } = await app.get('/feeds/objects');
      assert.equal(
        entriesOf(text).map(({ title }) => title.replace(/\d{19}/, id => `${BigInt(id) - FIRST_ID}`)),
        [
          '1: removed from this service',
          '2: unclear source at 0.13&#x2033; in Gaia DR3 and 1 more, crossmatched',
          '2: new object, not yet searched',
        ],
      );
      const updated = Date.parse(/<updated>(.*)<\/updated>/.exec(entriesOf(text)[0]!.xml)![1]!);
      assert.ok(Math.abs(Date.now() - updated) < 60_000, 'the time of the removal');
      assert.is(entriesOf((await app.get('/feeds/matches')).text).length, 2);
    },
  ));

/** The objects of a feed's entries, ascending. */
const objectsOf = (xml: string) =>
  [...new Set(entriesOf(xml).map(({ title }) => Number(BigInt(title.slice(0, 19)) - FIRST_ID)))].sort((a, b) => a - b);

test('a kept sample: the objects of its ids, positions and names [Feeds]', () =>
  withApp(
    async world => {
      await ingest(world, ...range(0, 12));
      await match(world, range(0, 12));
      const { ra, dec } = position(3)!;
      await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc', ra, dec }]);
    },
    async (app, world) => {
      const inputs = [
        { kind: 'id', diaObjectId: `${at(1)}` },
        { kind: 'position', ...position(2)! },
        { kind: 'tns', name: 'AT 2026abc' },
        { kind: 'tns', name: '2026zzz' },
        { kind: 'position', ra: 999, dec: 0 },
      ];
      const { body } = await app.post('/api/samples', { title: 'Mine & <yours>', inputs });
      const path = `/feeds/samples/${body.id}`;
      const objects = async () => {
        const { status, text } = await app.get(path);
        assert.is(status, 200, text);
        assert.match(text, '<title>Mine &amp; &lt;yours&gt;</title>');
        assert.match(subtitleOf(text), '1 name of the sample has no position now');
        return objectsOf(text);
      };
      assert.equal(await objects(), [1, 2, 3]);
      await world.writer.ingest([delivery(at(50), { position: position(2)! })], NOW_US);
      await settled(app, world);
      assert.equal(await objects(), [1, 2, 3, 50]);
      const { ra, dec } = position(4)!;
      const rows = [`${at(1)},,,`, `,${ra},${dec},`, ',,,2026abc', ',,,'];
      const table = await app.post('/api/samples?title=b', ['diaObjectId,ra,dec,name', ...rows].join('\n'), 'text/csv');
      const ofTable = await app.get(`/feeds/samples/${table.body.id}`);
      assert.is(ofTable.status, 200, ofTable.text);
      assert.equal(objectsOf(ofTable.text), [1, 3, 4]);
      assert.is((await app.get(`/feeds/samples/${table.body.id}?limit=3`)).status, 200);
      const ids = Array.from({ length: 10_001 }, (_, i) => `${i + 1}\n`).join('');
      const long = await app.post('/api/samples?title=c', `diaObjectId\n${ids}`, 'text/csv');
      const refused = await app.get(`/feeds/samples/${long.body.id}`);
      assert.is(refused.status, 400);
      assert.match(refused.body.message, 'Cannot follow the table because it has 10001 rows, more than 10000');
      await app.get(`/api/samples/${table.body.id}`, { method: 'DELETE' });
      assert.is((await app.get(`/feeds/samples/${table.body.id}`)).status, 404);
      assert.is((await app.get(`/feeds/samples/${'0'.repeat(32)}`)).status, 404);
    },
  ));

test('pages from an id that no stream has end [Feeds]', () =>
  withApp(fill, async app => {
    for (const kind of ['matches', 'objects']) {
      const entries = await readFeed(app, `/feeds/${kind}?until=2&limit=500`);
      // It is before the id of the last event of entry 2, which is 2.
      assert.equal(await readFeed(app, `/feeds/${kind}?until=1.999999999999999.9&limit=500`), entries.slice(1));
    }
  }));

test('what is wrong is named with its bound and its value [Feeds]', () =>
  withApp(fill, async app => {
    for (const [query, message] of [
      ['limit=501', /limit must be .*500.*501/],
      ['limit=0', /limit must be .*\b1\b.*\b0\b/],
      ['until=x', /until must be the id of an event, such as 12 or 12.3.1 .*x/],
      ['catalog=nope', /catalog must be one of/],
      ['separation_arcsec_max=-1', /separation_arcsec_max must be/],
      ['area=CIRCLE 1 2', /area/],
    ] as const)
      for (const kind of ['matches', 'objects']) {
        const { status, body } = await app.get(`/feeds/${kind}?${query}`);
        assert.is(status, 400, query);
        assert.match(body.message, message);
      }
    assert.is((await app.get('/feeds/objects?status=nope')).status, 400);
    const ignored = await app.get('/feeds/matches?stauts=x');
    assert.is(ignored.headers.get('X-Unknown-Parameters'), 'stauts');
    assert.not.match(linksOf(ignored.text).self!, 'stauts');
  }));

test('pages name the feed of what they show, and link to it [Feeds]', () =>
  withApp(fill, async app => {
    if (!API.hasPages) return;
    for (const [page, feed] of [
      ['/recent', '/feeds/matches'],
      ['/recent?catalog=gaia_dr3&hours=1', '/feeds/matches?catalog=gaia_dr3'],
      ['/area?area=CIRCLE+350+-60+40', '/feeds/objects?area=CIRCLE+350+-60+40'],
      ['/area', undefined],
      ['/sample', undefined],
      [`/sample?kept=${'0'.repeat(32)}`, `/feeds/samples/${'0'.repeat(32)}`],
      ['/sample?kept=%22><script>', '/feeds/samples/%22%3E%3Cscript%3E'],
    ] as const) {
      const { text } = await app.get(page);
      const head = /<link rel="alternate" type="application\/atom\+xml" title="[^"]+" href="([^"]+)">/.exec(text)?.[1];
      assert.is(head?.replaceAll('&amp;', '&'), feed, page);
      const [, visible, isHidden] = /<a id="feed" href="([^"]+)"( hidden)?>/.exec(text)!;
      assert.is(isHidden === undefined, feed !== undefined, page);
      if (feed !== undefined) assert.is(visible, head);
      if (feed?.includes('matches') || feed?.includes('objects')) assert.is((await app.get(feed)).status, 200);
    }
    assert.not.match((await app.get('/help')).text, 'atom+xml');
    const { alternate } = linksOf((await app.get('/feeds/objects?area=CIRCLE+350+-60+40')).text);
    assert.is(alternate, 'http://nearsky.test/area?area=CIRCLE+350+-60+40');
  }));

test('nothing stored breaks the document [Feeds]', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(1n)], NOW_US);
      const [result] = [crossmatch(1n, 1)];
      const name = '<b>]]>&"\'\u0000\u0008\uffff<script>';
      const source = { ra: 150, dec: 2, payload: { [name]: name } };
      const matches = result.matches.map(each => ({ ...each, catalogSourceId: name, source }));
      const tns = { checked: true, snapshotEpochUs: 1, objid: 1, name, namePrefix: null, classification: name };
      await writer.recordCrossmatches(
        [{ ...result, matches, tns: { ...tns, redshift: null, separationArcsec: 0 } }],
        provenance,
        NOW_US,
      );
    },
    async app => {
      for (const kind of ['matches', 'objects']) {
        const { text } = await app.get(`/feeds/${kind}`);
        assert.match(text, '&lt;b&gt;]]&gt;&amp;');
        // Nothing but the elements of the feed, and nothing that XML does not allow.
        assert.not.match(text, /<(?:b|script)>/);
        assert.not.match(text, /[^\n\x20-\x7e]|&#x(?:0|8|ffff);/);
      }
    },
  ));

test.run();
