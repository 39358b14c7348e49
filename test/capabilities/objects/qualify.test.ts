/** Every filter is applied to the right value of an object or a source, on the right side, with an inclusive limit. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Qualifier } from '../../../src/capabilities/objects/qualify.ts';
import type { QueryContext } from '../../../src/core/answers/context.ts';
import { CATALOGS, PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import type { Filter } from '../../../src/core/contract/filters.ts';
import { statisticsOf } from '../../../src/core/store/match_statistics.ts';
import type { ObjectView } from '../../../src/core/store/object_record.ts';
import type { StoredObject } from '../../../src/core/store/types.ts';
import { worth } from '../../oracle/answers.ts';

const test = suite('objects/qualify');

const RELIABILITY = 0.5;
const SEPARATION = 0.75;
const DENSITIES = [1, 3, 10, 30];
/** A different value for each column, so that no column can be mistaken for another. */
const payloads = CATALOGS.map(({ columns }, catalog) =>
  Object.fromEntries(columns.map(({ name }, i) => [name.toLowerCase(), 1000 * (catalog + 1) + 7 * i])),
);

const object = {
  diaObjectId: 1n,
  state: 'crossmatched',
  position: { ra: 1, dec: 2 },
  reliability: RELIABILITY,
  records: [{ version: 1, catalogOutcomes: CATALOGS.map(({ name }) => [name, 'searched']) }],
  matches: CATALOGS.map(({ name }, i) => ({
    matchVersion: 1,
    catalogName: name,
    catalogSourceId: `${i}`,
    separationArcsec: SEPARATION,
    statistics: statisticsOf(DENSITIES[i]!, 2, 0.9, {
      combinedErrorMas: 300 + 10 * i,
      lnWeightRatio: (1 + i) / 10,
      priorCompleteness: 1,
    }),
  })),
} as unknown as StoredObject;

function reasonUnder(filter: Filter, value: number | string, of: readonly object[] = payloads): string {
  const stored = { getSources: () => of.map(payload => ({ ra: 1, dec: 2, payload })) };
  const context = { stored, fragments: { settings: { catalogs: PROJECT_CATALOGS } } };
  const qualifier = new Qualifier([[filter.name, value]], context as unknown as QueryContext);
  return qualifier.reasonOf({ diaObjectId: 1n, decode: () => object } as unknown as ObjectView);
}

/** The value that the filter tests: of the object, or of its source in the filter's catalog. */
function numberOf({ kind, catalog, field = '', derivedFrom, bound, worth: key }: Filter): number {
  const at = CATALOGS.findIndex(({ name }) => name === catalog);
  const payload = payloads[at] ?? {};
  // The best of all sources is the only one that meets a bound of its own value.
  const extreme = (values: readonly number[]) => (bound === 'min' ? Math.max(...values) : Math.min(...values));
  switch (kind) {
    case 'reliability':
      return RELIABILITY;
    case 'separation':
      return SEPARATION;
    case 'worth':
      return extreme(object.matches.map(match => worth(match)[key!] as number));
    case 'property':
      return derivedFrom ? payload[derivedFrom.numerator]! / payload[derivedFrom.denominator]! : payload[field]!;
    case 'catalog':
      throw new Error('it has no number');
  }
}

for (const filter of PROJECT_CATALOGS.filters.values()) {
  const notMet = filter.isMatchFilter ? 'no_source_meets_filters' : 'object_filters_not_met';
  test(`${filter.name} is applied`, () => {
    if (filter.kind === 'catalog') {
      assert.is(reasonUnder(filter, CATALOGS[1]!.name), 'meets_filters');
      assert.is(reasonUnder(filter, 'another'), notMet);
      return;
    }
    const value = numberOf(filter);
    const beyond = filter.bound === 'min' ? value + 1e-9 * value : value - 1e-9 * value;
    assert.is(reasonUnder(filter, value), 'meets_filters');
    assert.is(reasonUnder(filter, beyond), notMet);
  });
}

test('a quotient that overflows is beyond every bound on its side; one by 0 is none', () => {
  const [min, max] = ['min', 'max'].map(
    bound => PROJECT_CATALOGS.filters.get(`gaia_dr3.parallax_over_error_${bound}`)!,
  );
  for (const [parallax, error, isBelow, isAbove] of [
    [1e300, 1e-300, false, true],
    [-1e300, 1e-300, true, false],
    [1e300, -1e-300, true, false],
    [1e-300, 1e300, true, true],
    [0, 1e-300, true, true],
    [1e300, 0, false, false],
    [-1e300, -0, false, false],
    [0, 0, false, false],
    [Number.POSITIVE_INFINITY, 1, false, false],
    [1, null, false, false],
  ] as const) {
    const meets = (filter: Filter) => {
      const payload = { parallax, parallax_error: error };
      return reasonUnder(filter, 0, [payload, payload, payload, payload]) === 'meets_filters';
    };
    assert.equal([meets(max!), meets(min!)], [isBelow, isAbove], `${parallax} / ${error}`);
  }
});

test.run();
