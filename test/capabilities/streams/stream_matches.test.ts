/** GET /api/stream/matches (docs/contract.md, Stream of matches): which events, from where, and what ends them. */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { matchTest } from '../../../src/capabilities/objects/qualify.ts';
import { EventStreams } from '../../../src/capabilities/streams/event_streams.ts';
import { eventSelection, positionAfter } from '../../../src/capabilities/streams/stream_events.ts';
import type { FilterValues } from '../../../src/core/answers/queries.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { Catalogs, catalogDefinition, PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';
import type { Coordination } from '../../../src/core/service/coordination.ts';
import { answerSettings } from '../../../src/core/store/provenance.ts';
import { EventReader } from '../../core/http/event_reader.ts';
import {
  configOf,
  delivery,
  eventually,
  NOW_US,
  putBytes,
  type Settings,
  type TestApp,
  type World,
  withApp,
} from '../../core/http/support.ts';
import { provenance, withStore } from '../../core/store/support.ts';
import { isListed } from '../../oracle/answers.ts';
import { addObjects, allExpected, crossmatch, FIRST_ID } from './support.ts';

const test = suite('streams/matches');
const PATH = '/api/stream/matches';

/** A connected reader. Aborting ends it like a client that disconnects. */
async function open(app: TestApp, query = '', lastId?: string, client?: string) {
  const headers: Record<string, string> = lastId === undefined ? {} : { 'Last-Event-ID': lastId };
  if (client !== undefined) headers['X-Forwarded-For'] = client;
  const response = await app.app.fetch(new Request(`http://nearsky.test${PATH}${query}`, { headers }));
  assert.is(response.status, 200);
  const body = response.body!;
  const [mine] = [body.getReader()];
  const reader = new EventReader();
  const gone = (async () => {
    for (let part = await mine.read(); !part.done; part = await mine.read()) reader.take(part.value);
    reader.isEnded = true;
  })();
  const close = async () => {
    await mine.cancel();
    await gone;
  };
  return { response, reader, close };
}

/** All events until this many have arrived and no more follow. */
async function read(app: TestApp, count: number, query = '', lastId?: string): Promise<EventReader> {
  const { reader, close } = await open(app, query, lastId);
  await reader.until(`${count} events, after ${reader.events.length}`, ({ events }) => events.length >= count);
  await new Promise(resolve => setTimeout(resolve, 20));
  await close();
  assert.is(reader.events.length, count);
  return reader;
}

const withMatches = (objects: number, body: (app: TestApp, world: World) => Promise<void>, settings?: Settings) =>
  withApp(
    async ({ writer }) => {
      await addObjects(writer, 0, objects, object => object % 7 === 0);
      await writer.recordCrossmatches([crossmatch(FIRST_ID, 3)], provenance, 2);
    },
    body,
    settings,
  );

test('the headers [Stream of matches]', () =>
  withMatches(5, async app => {
    const { response, reader, close } = await open(app);
    const names = [
      'Content-Type',
      'Cache-Control',
      'X-Accel-Buffering',
      'Access-Control-Allow-Origin',
      'Content-Encoding',
    ];
    assert.equal(
      names.map(name => response.headers.get(name)),
      ['text/event-stream', 'no-store', 'no', '*', null],
    );
    await reader.until('a place and a time to come again', ({ lastId, retryMs }) => lastId !== '' && retryMs! > 0);
    assert.is(reader.lastId, '3', 'the newest entry');
    assert.ok(reader.retryMs! >= 1000 && reader.retryMs! <= 5000);
    await close();
  }));

test('from the beginning: each message of the journal once, in its order; each event has an id of its own [P18; Stream of matches]', () =>
  withMatches(200, async (app, { store }) => {
    const all = allExpected(store);
    const { texts, events } = await read(app, all.length, '?from=beginning');
    assert.equal(texts, all);
    assert.is(new Set(events.map(({ id }) => id)).size, all.length);
  }));

test('a client that comes again after any event gets the others: none is missing, none comes twice [Stream of matches]', () =>
  withMatches(12, async (app, { store }) => {
    const all = allExpected(store);
    const { events } = await read(app, all.length, '?from=beginning');
    for (const [i, { id }] of events.entries()) {
      assert.equal((await read(app, all.length - i - 1, '', id)).texts, all.slice(i + 1), id);
      assert.equal(
        (await read(app, all.length - i - 1, '?from=beginning', id)).texts,
        all.slice(i + 1),
        `header first: ${id}`,
      );
      assert.equal((await read(app, all.length - i - 1, `?from=${id}`)).texts, all.slice(i + 1), `from=${id}`);
    }
  }));

test('what is recorded while it reads; now leaves out what was there [Stream of matches]', () =>
  withMatches(10, async (app, { writer, store }) => {
    const before = allExpected(store).length;
    const [now, all] = [await open(app), await open(app, '?from=beginning')];
    await all.reader.until('what is there', ({ events }) => events.length === before);
    for (let i = 1; i <= 5; i++) await addObjects(writer, 10 * i, 10 * i + 10);
    const expected = allExpected(store);
    await all.reader.until('all', ({ events }) => events.length >= expected.length);
    assert.equal(all.reader.texts, expected);
    await now.reader.until('the new ones', ({ events }) => events.length >= expected.length - before);
    assert.equal(now.reader.texts, expected.slice(before));
    await Promise.all([now.close(), all.close()]);
  }));

test('filters leave out events, each match by itself [Stream of matches]', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest(
        [
          delivery(FIRST_ID),
          delivery(FIRST_ID + 1n, { reliability: 0.25 }),
          delivery(FIRST_ID + 2n, { reliability: null }),
        ],
        NOW_US,
      );
      const ids = [FIRST_ID, FIRST_ID + 1n, FIRST_ID + 2n];
      await writer.recordCrossmatches(
        ids.map((id, i) => {
          const { matches, ...others } = crossmatch(id, 3);
          const measured = matches.map(match => ({
            ...match,
            source: { ...match.source, payload: { ruwe: 1 + i, dnf_z: 0.1 * i } },
          }));
          return { ...others, matches: measured };
        }),
        provenance,
        1,
      );
    },
    async app => {
      const cases: [query: string, places: string[]][] = [
        ['catalog=des_y6_gold', ['0 des_y6_gold', '1 des_y6_gold', '2 des_y6_gold']],
        ['separation_arcsec_max=0.125', ['0 gaia_dr3', '1 gaia_dr3', '2 gaia_dr3']],
        ['reliability_min=0.5', ['0 delve_dr3_gold', '0 des_y6_gold', '0 gaia_dr3']],
        ['reliability_max=0.25', ['1 delve_dr3_gold', '1 des_y6_gold', '1 gaia_dr3']],
        ['gaia_dr3.ruwe_min=2', ['1 gaia_dr3', '2 gaia_dr3']],
        ['gaia_dr3.ruwe_min=2&reliability_min=0', ['1 gaia_dr3']],
        ['des_y6_gold.dnf_z_max=0.1&separation_arcsec_max=0.25', ['0 des_y6_gold', '1 des_y6_gold']],
      ];
      for (const [query, places] of cases) {
        const { texts } = await read(app, places.length, `?from=beginning&${query}`);
        const found = texts.map(text => {
          const [, id, catalog] = /"diaObjectId":(\d+).*"catalog_name":"(\w+)"/.exec(text)!;
          return `${BigInt(id!) - FIRST_ID} ${catalog}`;
        });
        assert.equal(found, places, query);
      }
    },
  ));

test('a bad request is told what is wrong with it [Stream of matches]', () =>
  withMatches(5, async app => {
    const bad = [
      'abc',
      '-1',
      '1e3',
      '1.',
      '1.2.3.4',
      '4',
      '1234567890',
      '9007199254740993',
      `${2n ** 64n}`,
      '9'.repeat(400),
      'beginning',
      'now',
    ];
    for (const id of bad) {
      const { status, body } = await app.get(PATH, { headers: { 'Last-Event-ID': id } });
      assert.is(status, 400, id);
      assert.equal([body.code, body.param, body.retryable], ['invalid_parameter', 'Last-Event-ID', false], id);
    }
    const cases: [query: string, code: string, param: string | undefined][] = [
      ['from=', 'invalid_parameter', 'from'],
      ['from=yesterday', 'invalid_parameter', 'from'],
      ['from=4', 'invalid_parameter', 'from'],
      ['catalog=2mass', 'invalid_parameter', 'catalog'],
      ['separation_arcsec_max=-1', 'invalid_parameter', 'separation_arcsec_max'],
      ['gaia_dr3.mag_max=1', 'invalid_parameter', 'gaia_dr3.mag_max'],
      ['gaia_dr3.ruwe_max=1&catalog=des_y6_gold&from=x', 'filters_span_catalogs', undefined],
    ];
    for (const [query, code, param] of cases) {
      const { status, body } = await app.get(`${PATH}?${query}`);
      assert.equal([status, body.code, body.param], [400, code, param], query);
    }
    const { status, headers } = await app.get(PATH, { method: 'PUT' });
    assert.equal([status, headers.get('Allow')], [405, 'GET, HEAD, POST']);
    const { response, close } = await open(app, '?frm=now');
    assert.is(response.headers.get('X-Unknown-Parameters'), 'frm;did-you-mean=from');
    await close();
  }));

test('an id whose entry, object or match is behind the end of its entry loses nothing of the next', () =>
  withMatches(6, async (app, { store }) => {
    const all = allExpected(store);
    // Entry 2 has all objects, and entry 3 the first one again.
    const last = all.slice(-3);
    for (const id of ['2', '1.6', '1.999999999999999']) assert.equal((await read(app, 3, '', id)).texts, last, id);
  }));

test('too many clients, or more than half of the streams for one: 503 until one has gone [Stream of matches]', () =>
  withMatches(
    5,
    async app => {
      const refused = async (client: string) => {
        const { status, body, headers } = await app.get(PATH, { headers: { 'X-Forwarded-For': client } });
        assert.equal([status, body.code, headers.get('Retry-After')], [503, 'service_unavailable', '30'], client);
      };
      const [greedy, other, third] = ['192.0.2.1', '2001:db8::1', '192.0.2.3'];
      const one = await open(app, '', undefined, greedy);
      await refused(greedy);
      const two = await open(app, '', undefined, other);
      await refused(third);
      assert.is(app.app.metrics.get('streams'), 2);
      assert.match((await app.get('/metrics')).text, 'nearsky_streams_refused_total 2\n');
      await one.close();
      await refused('2001:db8::2');
      const three = await open(app, '', undefined, third);
      await Promise.all([two.close(), three.close()]);
      assert.is(app.app.metrics.get('streams'), 0);
    },
    { NEARSKY_MAX_STREAMS: '2' },
  ));

test('a service that is told to stop ends them at once, and begins none', () =>
  withMatches(5, async app => {
    const { reader } = await open(app);
    app.app.stop();
    await reader.until('it has ended', ({ isEnded }) => isEnded);
    assert.is((await app.get(PATH)).status, 503);
    assert.is(app.app.metrics.get('streams'), 0);
  }));

test('what an import brought comes only where it is published, too', () =>
  withMatches(10, async (app, { store }) => {
    const objects = [...store.objects()];
    const entries = objects.flatMap(({ diaObjectId, records, matches, tns: _, ...fields }) => {
      const sources = store.getSources(diaObjectId);
      return [
        { kind: 'object' as const, diaObjectId, object: fields },
        ...records.map(record => ({ kind: 'crossmatch_record' as const, diaObjectId, record, provenance })),
        ...matches.map((match, i) => ({ kind: 'match' as const, diaObjectId, match, source: sources[i]! })),
      ];
    });
    // The journal does not know which crossmatches an import brought, so those of the newest one come.
    const newest = objects.flatMap(object => object.matches.filter(match => isListed(object, match)));
    assert.ok(newest.length < allExpected(store).length);
    for (const [imported, count] of [
      ['no', 2],
      ['yes', newest.length + 2],
    ] as const) {
      const fill = async ({ writer }: World) => {
        await writer.import(entries);
        await addObjects(writer, 12, 13);
      };
      await withApp(fill, async other => void (await read(other, count, '?from=beginning')), {
        PUBLISH_IMPORTED: imported,
      });
    }
    assert.ok(app.app.ready);
  }));

test('a source without a position has no event, and is counted', () => {
  const { matches, ...result } = crossmatch(FIRST_ID, 3);
  const [first, second, third] = matches;
  const source = { ra: null, dec: null, payload: null };
  const fill = async ({ writer }: World) => {
    await writer.ingest([delivery(FIRST_ID)], NOW_US);
    await writer.recordCrossmatches([{ ...result, matches: [first!, { ...second!, source }, third!] }], provenance, 2);
  };
  return withApp(fill, async app => {
    await read(app, 2, '?from=beginning');
    assert.match((await app.get('/metrics')).text, 'nearsky_sources_left_out_total 1\n');
  });
});

/** Streams over a store, whose generation and times the test sets. */
function streamsOver(store: World['store'], quietMs: number) {
  const coordination = {
    state: new SharedState(),
    generation: { sequence: store.lastSequence() },
    onGeneration: () => {},
  };
  const config = configOf('.');
  const logged: string[] = [];
  let fragments = new SharedFragments(answerSettings(config));
  const register = (catalogs: Catalogs) => {
    fragments = new SharedFragments(answerSettings(config, catalogs));
  };
  const streams = new EventStreams({
    config,
    coordination: coordination as unknown as Coordination,
    store: () => store,
    fragments: () => fragments,
    metrics: new ThreadMetrics(),
    count: () => {},
    log: event => logged.push(event),
    quietMs,
  });
  return { streams, coordination, logged, register };
}

/** A client of streams that reads everything. */
function readerOf(streams: EventStreams, from: string, filters: FilterValues | null, onPart = () => {}) {
  const reader = new EventReader();
  const parts: Uint8Array[] = [];
  const stream = streams.open('matches', positionAfter(from)!, eventSelection(filters), 'a');
  stream.begin({
    write: bytes => {
      onPart();
      parts.push(bytes);
      reader.take(bytes);
      setTimeout(() => stream.written(), 0);
    },
    end: () => {
      reader.isEnded = true;
    },
    fail: () => {},
  });
  return { reader, parts };
}

const haveRead = (readers: readonly { readonly reader: EventReader }[], end: string) =>
  eventually('all are at the end', async () => readers.every(({ reader }) => reader.lastId === end) || undefined);

test('clients share what they are sent, also where their filters are equal', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 200);
    const { streams } = streamsOver(store, 60_000);
    const filters: FilterValues = [
      ['separation_arcsec_max', 0.25],
      ['reliability_min', 0.5],
    ];
    const readers = [null, null, filters, filters.toReversed(), [filters[1]!]].map(wanted =>
      readerOf(streams, '0', wanted),
    );
    const all = allExpected(store);
    const near = all.filter(text => /"separation_arcsec":0\.(125|25),/.test(text));
    const expected = [all, all, near, near, all];
    const haveAll = () => readers.every(({ reader }, i) => reader.events.length >= expected[i]!.length);
    await eventually('all', async () => haveAll() || undefined);
    for (const [i, { reader }] of readers.entries()) assert.equal(reader.texts, expected[i]);
    const [first, same, few, equal, other] = readers.map(({ parts }) => parts.slice(1));
    const isShared = (some: readonly Uint8Array[], others: readonly Uint8Array[]) =>
      some.length === others.length && some.every((part, i) => part === others[i]);
    assert.ok(first!.length > 5);
    assert.ok(isShared(first!, same!));
    assert.ok(isShared(few!, equal!));
    assert.not(isShared(few!, other!));
    streams.close();
  }));

test('a stream ends when one of its filters is gone, because the catalog was removed or described anew [Stream of matches]', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 5);
    const { streams, coordination, register } = streamsOver(store, 60_000);
    const definition = { ...catalogDefinition('gaia_dr3')!, name: 'mine' };
    register(new Catalogs([{ name: 'mine', definition, coverage: { order: 0 } }]));
    const end = `${store.lastSequence()}`;
    const { reader } = readerOf(streams, '0', [['mine.ruwe_max', 1]]);
    const other = readerOf(streams, end, [['gaia_dr3.ruwe_max', 1]]).reader;
    await addObjects(writer, 5, 6);
    register(new Catalogs([]));
    coordination.generation = { sequence: store.lastSequence() };
    coordination.onGeneration();
    await reader.until('its end', ({ isEnded }) => isEnded);
    assert.not(other.isEnded);
    streams.close();
  }));

test('a client that broke off within a page reads the pages of the others when it comes again', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 100);
    const { streams } = streamsOver(store, 60_000);
    const one = readerOf(streams, '0', null);
    await haveRead([one], '2');
    const all = one.reader.events;
    const inside = all[5]!.id;
    const other = readerOf(streams, inside, null);
    await haveRead([other], '2');
    assert.equal(other.reader.texts, one.reader.texts.slice(6));
    assert.ok(other.parts.length > 5);
    for (const [i, part] of other.parts.slice(2).entries()) assert.is(part, one.parts[i + 2]);
    streams.close();
  }));

test('a turn writes a few parts, and ends when the database is read', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 400);
    const { streams } = streamsOver(store, 60_000);
    // A turn is one function without an await: all its writes come before any microtask runs.
    let turn = 0;
    const turns: number[] = [];
    const note = () => {
      turns.push(turn);
      queueMicrotask(() => turn++);
    };
    const apart = [0, 80, 160, 240, 320].map(object => readerOf(streams, `1.${object}`, null, note));
    await eventually('one part each', async () => apart.every(({ parts }) => parts.length > 1) || undefined);
    const firstParts = turns.slice(apart.length, 2 * apart.length);
    assert.is(new Set(firstParts).size, apart.length, 'each is read in a turn of its own');
    turns.length = 0;
    const together = Array.from({ length: 50 }, () => readerOf(streams, '0', null, note));
    await haveRead([...apart, ...together], '2');
    const sizes = Map.groupBy(turns.slice(together.length), at => at);
    const longest = Math.max(...[...sizes.values()].map(({ length }) => length));
    assert.ok(longest > 1 && longest <= 4, `${longest}`);
    streams.close();
  }));

test('filters that nothing meets: the client hears that the service is there, and its place goes on [Stream of matches]', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 300);
    for (let i = 0; i < 200; i++) await writer.recordCrossmatches([], provenance, 1);
    const filters: FilterValues = [['separation_arcsec_max', 0]];
    assert.not(
      matchTest(filters, PROJECT_CATALOGS)(
        store.getObject(FIRST_ID + 1n)!,
        store.getObject(FIRST_ID + 1n)!.matches[0]!,
        undefined,
      ),
    );
    const { streams, coordination } = streamsOver(store, 1);
    const reader = new EventReader();
    let parts = 0;
    const stream = streams.open('matches', { sequence: 0, objects: 0, matches: 0 }, eventSelection(filters), 'a');
    stream.begin({
      write: bytes => {
        parts++;
        reader.take(bytes);
        setTimeout(() => stream.written(), 2);
      },
      end: () => {},
      fail: () => {},
    });
    await reader.until('the end of the journal', ({ lastId }) => lastId === `${store.lastSequence()}`);
    const heard = reader.comments;
    assert.ok(parts > 2, 'signs of life on the way');
    await reader.until('more signs of life', ({ comments }) => comments > heard + 1);
    await addObjects(writer, 300, 310);
    coordination.generation.sequence = store.lastSequence();
    coordination.onGeneration();
    await reader.until('the new end', ({ lastId }) => lastId === `${store.lastSequence()}`);
    assert.equal(reader.events, []);
    stream.gone();
    streams.close();
  }));

test('a client that does not read is sent one page and no more; nothing is left out when it reads on', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 500);
    const { streams } = streamsOver(store, 1);
    const reader = new EventReader();
    const stream = streams.open('matches', { sequence: 0, objects: 0, matches: 0 }, undefined, 'a');
    let [parts, longest] = [0, 0];
    stream.begin({
      write: bytes => {
        parts++;
        longest = Math.max(longest, bytes.length);
        reader.take(bytes);
      },
      end: () => {},
      fail: () => {},
    });
    const all = allExpected(store);
    while (reader.events.length < all.length) {
      const before = parts;
      await new Promise(resolve => setTimeout(resolve, 5));
      assert.is(parts, before, 'nothing before the last part is out');
      stream.written();
      await eventually('the next part', async () => parts > before || undefined);
    }
    assert.equal(reader.texts, all);
    assert.ok(longest < 65_536, `${longest}`);
    stream.gone();
    streams.close();
  }));

test('while the database is gone nothing is read; an entry that cannot be read ends the stream', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 5);
    const { streams, coordination, logged } = streamsOver(store, 60_000);
    const reader = new EventReader();
    coordination.state.databaseIsGone = true;
    const stream = streams.open('matches', { sequence: 0, objects: 0, matches: 0 }, undefined, 'a');
    assert.throws(() => streams.lastSequence(), /the database cannot be read/);
    let isEnded = false;
    stream.begin({
      write: bytes => {
        reader.take(bytes);
        setTimeout(() => stream.written(), 0);
      },
      end: () => {
        isEnded = true;
      },
      fail: () => {},
    });
    await new Promise(resolve => setTimeout(resolve, 50));
    assert.equal(reader.events, []);
    coordination.state.databaseIsGone = false;
    await reader.until('all', ({ events }) => events.length === 10);
    const [id] = await addObjects(writer, 6, 7);
    putBytes(store, id!, new Uint8Array([1, 2, 3]));
    coordination.generation.sequence = store.lastSequence();
    coordination.onGeneration();
    await eventually('it has ended', async () => isEnded || undefined);
    assert.equal(logged, ['stream_failed']);
    streams.close();
  }));

test.run();
