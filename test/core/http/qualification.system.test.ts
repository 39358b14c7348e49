/** Filters over random objects, on every operation that has them, against the oracle: marks, totals and counts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  catalogsNamed,
  type TrueFilters,
  type TrueObject,
  trueReason,
  trueStatus,
} from '../../oracle/qualification.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { Dice, randomFilters, randomObject, store } from './random_objects.ts';
import { type Json, loadRegistry, NOW_US, type Running, startApp } from './support.ts';

const OBJECTS = 150;
const FILTER_SETS = 80;
/** Where the objects are: two groups, so that a position finds a part of them. */
const NEAR = { ra: 150, dec: 2 };
const FAR = { ra: 150.01, dec: 2 };
const RADIUS = 5;

const dice = new Dice(seededRandom(11));
const objects = Array.from({ length: OBJECTS }, (_, i) => ({
  ...randomObject(dice, BigInt(1000 + i)),
  ...(i % 3 === 0 ? FAR : NEAR),
  timeUs: NOW_US + dice.below(5),
}));
const near = objects.filter(({ ra }) => ra === NEAR.ra);

const test = suite<{ running: Running }>('http/qualification');

test.before(async context => {
  context.running = await startApp(async world => {
    await store(world, objects);
    await loadRegistry(world, Date.now() * 1000, [{ name: '2026near', ...NEAR }]);
  });
});

test.after(({ running }) => running.close());

function query(filters: TrueFilters): string {
  return Object.entries(filters)
    .map(([name, value]) => `&${name}=${value}`)
    .join('');
}

function marksOf(found: readonly TrueObject[], filters: TrueFilters) {
  const qualifying_total = found.filter(object => trueReason(object, filters) === 'meets_filters').length;
  const qualifies = qualifying_total > 0;
  return { qualifying_total, qualifies, qualifies_reason: qualifies ? 'meets_filters' : 'no_object_meets_filters' };
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

const withoutZeroes = (counts: Record<string, number>) =>
  Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));

function assertMarks(result: Json, found: readonly TrueObject[], filters: TrueFilters, listed: number): void {
  const { qualifying_total, qualifies, qualifies_reason } = result;
  assert.equal({ qualifying_total, qualifies, qualifies_reason }, marksOf(found, filters));
  assert.is(result.total, found.length);
  assert.is(result.objects.length, listed);
  for (const object of result.objects) {
    const reason = trueReason(found.find(({ id }) => id === BigInt(object.diaObjectId))!, filters);
    assert.equal([object.qualifies, object.qualifies_reason], [reason === 'meets_filters', reason]);
  }
}

function assertCounts(counts: Json, reached: readonly TrueObject[], filters: TrueFilters): void {
  const reasons = reached.map(object => trueReason(object, filters));
  assert.equal(withoutZeroes(counts.objects.by_status), tally(reached.map(trueStatus)));
  assert.equal(withoutZeroes(counts.objects.by_qualifies_reason), tally(reasons));
  const qualifying = reasons.filter(reason => reason === 'meets_filters').length;
  assert.equal([counts.objects.total, counts.objects.qualifying], [reached.length, qualifying]);
}

test('random filters over random objects [Filters and counts]', async ({ running: { app } }) => {
  const seen = new Set<string>();
  let spanning = 0;
  for (let i = 0; i < FILTER_SETS; i++) {
    const filters = randomFilters(dice);
    if (Object.keys(filters).length === 0) continue;
    const place = `ra=${NEAR.ra}&dec=${NEAR.dec}&radius_arcsec=${RADIUS}`;
    const cone = await app.get(`/api/cone?${place}&detail=ids&page_size=20${query(filters)}`);
    const catalogs = catalogsNamed(filters);
    if (catalogs.size > 1) {
      spanning++;
      assert.equal([cone.body.code, cone.body.params], ['filters_span_catalogs', [...catalogs.values()].flat()]);
      continue;
    }
    assertMarks(cone.body.results[0], near, filters, 20);
    assert.equal(cone.body.filters, filters);

    const inputs = [
      ...objects.map(({ id }) => ({ kind: 'id', diaObjectId: id })),
      { kind: 'position', ...NEAR, radius_arcsec: RADIUS },
      { kind: 'tns', name: '2026NEAR', radius_arcsec: RADIUS },
    ];
    const { results } = await app.lookup(inputs, { filters, detail: 'ids' });
    objects.forEach((object, at) => {
      const reason = trueReason(object, filters);
      seen.add(reason);
      const marks = [reason === 'meets_filters', reason];
      assert.equal([results[at].qualifies, results[at].qualifies_reason], marks);
      assert.equal([results[at].objects[0].qualifies, results[at].objects[0].qualifies_reason], marks);
    });
    for (const result of results.slice(-2)) assertMarks(result, near, filters, 100);

    const counted = (await app.get(`/api/cone?${place}&response=count${query(filters)}`)).body;
    assertCounts(counted.counts, near, filters);
    assert.equal(counted.counts.inputs, {
      total: 1,
      by_status: { ...counted.counts.inputs.by_status, objects_found: 1 },
      qualifying: marksOf(near, filters).qualifies ? 1 : 0,
    });
    assertCounts((await app.lookup(inputs, { filters, response: 'count' })).counts, objects, filters);
  }
  const reasons = ['meets_filters', 'object_filters_not_met', 'no_source_meets_filters', 'crossmatch_pending'];
  for (const reason of [...reasons, 'no_coincident_source', 'not_searched']) assert.ok(seen.has(reason), reason);
  assert.ok(spanning > 0);
});

test.run();
