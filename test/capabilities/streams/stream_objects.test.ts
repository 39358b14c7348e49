/** GET and POST /api/stream/objects: each stored or crossmatched object once per change. */

import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readEvents } from '../../core/http/event_reader.ts';
import {
  delivery,
  NOW_US,
  type Running,
  startApp,
  type TestApp,
  type World,
  withApp,
} from '../../core/http/support.ts';
import { provenance } from '../../core/store/support.ts';
import { crossmatch, FIRST_ID, messagesOf, textOf } from './support.ts';

const test = suite<{ running: Running }>('streams/objects');
const PATH = '/api/stream/objects';
const at = (i: number) => FIRST_ID + BigInt(i);
/** Object 5 has no position. */
const position = (i: number) => (i === 5 ? null : { ra: (40 * i + 350) % 360, dec: 5 * i - 10 });

/** The changes in their order: object, match version, status, number of matches. */
const CHANGES: [object: number, version: number | null, status: string, matches: number][] = [
  ...[0, 1, 2, 3, 4, 5].map((i): [number, null, string, number] => [i, null, 'crossmatch_pending', 0]),
  [0, 1, 'no_coincident_source', 0],
  [1, 1, 'coincident_sources', 1],
  [2, 1, 'coincident_sources', 2],
  [3, 1, 'not_searched', 0],
  [6, null, 'crossmatch_pending', 0],
  // Gaia could not be read for the first crossmatch of object 4.
  [4, 1, 'coincident_sources', 2],
  [4, 2, 'coincident_sources', 3],
];

test.before(async context => {
  context.running = await startApp(async ({ writer }) => {
    const deliver = (i: number, broker = 'lasair') =>
      delivery(at(i), { position: position(i), reliability: i / 10, broker });
    await writer.ingest(
      [0, 1, 2, 3, 4, 5].map(i => deliver(i)),
      NOW_US,
    );
    const none = { ...crossmatch(at(3), 0), catalogOutcomes: [['gaia_dr3', 'outside_footprint'] as const] };
    await writer.recordCrossmatches(
      [crossmatch(at(0), 0), crossmatch(at(1), 1), crossmatch(at(2), 2), none],
      provenance,
      1,
    );
    // A further delivery, which is not an event.
    await writer.ingest([deliver(1, 'fink'), deliver(6)], NOW_US);
    await writer.recordCrossmatches([crossmatch(at(4), 2, 'skymapper_dr4')], provenance, 2);
    await writer.recordCrossmatches([crossmatch(at(4), 3)], provenance, 3);
  });
});
test.after(async ({ running }) => running.close());

const read = (app: TestApp, count: number, query = '', init: RequestInit = {}) =>
  readEvents(app, `${PATH}?from=beginning&${query}`, count, init);

const idOf = (text: string) => Number(BigInt(/"diaObjectId":(\d+)/.exec(text)![1]!) - FIRST_ID);
const changeOf = (text: string) => {
  const { match_version, status, matches } = JSON.parse(text);
  return [idOf(text), match_version, status, matches.length];
};

test('each change once, in the order of the journal, as the change left the object [Stream of objects]', async ({
  running,
}) => {
  const { texts } = await read(running.app, CHANGES.length);
  assert.equal(texts.map(changeOf), CHANGES);
});

test('a message: its keys, exact ids, and the matches of the crossmatch as the other stream has them [Stream of objects]', async ({
  running: { app, world },
}) => {
  const { texts } = await read(app, CHANGES.length);
  const last = texts.at(-1)!;
  const { matches, ...others } = JSON.parse(last);
  assert.equal(
    Object.keys(others),
    'change match_version diaObjectId status ra dec reliability ingest_time event_time crossmatched_at catalog_outcomes tns'.split(
      ' ',
    ),
  );
  assert.match(last, `"diaObjectId":${at(4)},`);
  const ofMatches = messagesOf(world.store).messages(at(4), 2).map(textOf);
  assert.is(matches.length, 3);
  assert.ok(last.endsWith(`"matches":[${ofMatches.join(',')}]}`));
  assert.equal([others.ra, others.dec, others.reliability], [150, 10, 0.4]);
  assert.equal(others.catalog_outcomes.skymapper_dr4, 'searched');
  assert.is(JSON.parse(texts.at(-2)!).catalog_outcomes.skymapper_dr4, 'skipped_read_failure');
  const stored = JSON.parse(texts[5]!);
  assert.equal(
    [stored.change, stored.match_version, stored.ra, stored.crossmatched_at, stored.catalog_outcomes, stored.tns],
    ['stored', null, null, null, null, null],
  );
  assert.ok(texts.every(text => text.includes(`"diaObjectId":${at(idOf(text))},`)));
});

test('a client that comes again after any event gets the others [Stream of objects]', async ({ running: { app } }) => {
  const { texts, events } = await read(app, CHANGES.length);
  for (const [i, { id }] of events.entries()) {
    const rest = await read(app, CHANGES.length - i - 1, '', { headers: { 'Last-Event-ID': id } });
    assert.equal(rest.texts, texts.slice(i + 1), id);
  }
});

test('status, filters and areas leave out events [Stream of objects]', async ({ running: { app } }) => {
  const inCircle = ([i]: (typeof CHANGES)[number]) =>
    position(i) !== null && separationArcsec(0, 0, position(i)!.ra, position(i)!.dec) <= 40 * 3600;
  const circle = encodeURIComponent('CIRCLE 0 0 40');
  const cases: [query: string, isIn: (change: (typeof CHANGES)[number]) => boolean][] = [
    ['status=no_coincident_source', ([, , status]) => status === 'no_coincident_source'],
    ['status=crossmatch_pending', ([, , status]) => status === 'crossmatch_pending'],
    ['status=coincident_sources&reliability_min=0.3', ([i, , status]) => i >= 3 && status === 'coincident_sources'],
    ['catalog=gaia_dr3', ([, , , matches]) => matches >= 1],
    ['catalog=delve_dr3_gold', ([, , , matches]) => matches >= 3],
    ['separation_arcsec_max=0.125&catalog=des_y6_gold', () => false],
    ['reliability_max=0.1', ([i]) => i <= 1],
    [`area=${circle}`, inCircle],
    [`area=${circle}&status=crossmatch_pending`, change => inCircle(change) && change[1] === null],
  ];
  for (const [query, isIn] of cases) {
    const wanted = CHANGES.filter(isIn);
    assert.equal((await read(app, wanted.length, query)).texts.map(changeOf), wanted, query);
  }
  const posted = await read(app, CHANGES.filter(inCircle).length, '', { method: 'POST', body: 'CIRCLE 0 0 40' });
  assert.equal(posted.texts.map(changeOf), CHANGES.filter(inCircle));
  for (const bad of ['x', 'not_in_service', '']) {
    const { status, body } = await app.get(`${PATH}?status=${bad}`);
    assert.equal([status, body.param], [400, 'status'], bad);
  }
  assert.equal((await app.get(PATH, { method: 'PUT' })).headers.get('Allow'), 'GET, HEAD, POST');
});

test('what an import brought comes only where it is published [Stream of objects]', async () => {
  const object = {
    position: { ra: 1, dec: 2 },
    reliability: null,
    ingestTimeUs: NOW_US,
    eventTimeUs: NOW_US,
    brokers: ['lasair'],
    state: 'pending' as const,
  };
  const fill = async ({ writer }: World) => {
    await writer.import([{ kind: 'object', diaObjectId: 7n, object }]);
    await writer.ingest([delivery(at(0))], NOW_US);
  };
  for (const [imported, count] of [
    ['no', 1],
    ['yes', 2],
  ] as const)
    await withApp(fill, async app => void (await read(app, count)), { PUBLISH_IMPORTED: imported });
});

test.run();
