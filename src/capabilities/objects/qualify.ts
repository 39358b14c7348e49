/** Decides whether objects meet the filters of a request, and why (docs/contract.md, Filters and counts). */

import type { InSteps, QueryContext } from '../../core/answers/context.ts';
import type { FilterValues } from '../../core/answers/queries.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import type { QualifiesReason } from '../../core/contract/enums.ts';
import type { Filter } from '../../core/contract/filters.ts';
import { currentMatches } from '../../core/store/current_matches.ts';
import { worthOf } from '../../core/store/match_statistics.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import { statusOf } from '../../core/store/status.ts';
import type { MatchSource, MatchSummary, StoredObject } from '../../core/store/types.ts';
import { type Row, readRow } from './search.ts';

type ObjectTest = (object: StoredObject) => boolean;
/** Tests a source. `source` is only given if a filter uses a property of its catalog. */
type SourceTest = (match: MatchSummary, source: MatchSource | undefined) => boolean;
/** Tests a single match. */
type MatchTest = (object: StoredObject, match: MatchSummary, source: MatchSource | undefined) => boolean;

/** Applies the filters of a query to objects, and remembers the result for each object. */
export class Qualifier {
  readonly #context: QueryContext;
  readonly #objectTests: readonly ObjectTest[];
  readonly #matchTests: readonly SourceTest[];
  readonly #needsSources: boolean;
  readonly #reasons = new Map<bigint, QualifiesReason>();

  constructor(filters: FilterValues, context: QueryContext) {
    this.#context = context;
    const known = knownFilters(filters, context.fragments.settings.catalogs);
    const tests = known.map(([filter, value]) => testOf(filter, value));
    this.#objectTests = tests.flatMap(({ object }) => (object ? [object] : []));
    this.#matchTests = tests.flatMap(({ match }) => (match ? [match] : []));
    this.#needsSources = known.some(([{ kind }]) => kind === 'property');
  }

  /** @param object undefined for an id that is not stored */
  reasonOf(object: ObjectView | undefined): QualifiesReason {
    if (!object) return 'not_in_service';
    let reason = this.#reasons.get(object.diaObjectId);
    if (!reason) this.#reasons.set(object.diaObjectId, (reason = this.judge(object.decode())));
    return reason;
  }

  /** The number of objects that meet the filters. */
  *countQualifying(rows: readonly Row[]): InSteps<number> {
    let count = 0;
    for (const row of rows) {
      if (this.#context.clock.due) yield;
      const reason = this.#reasons.get(row.id) ?? this.reasonOf(readRow(this.#context, row));
      if (reason === 'meets_filters') count++;
    }
    return count;
  }

  /** The reason for an object that is tested only once. The result is not remembered. */
  judge(object: StoredObject): QualifiesReason {
    if (!this.#objectTests.every(test => test(object))) return 'object_filters_not_met';
    if (this.#matchTests.length === 0 || this.#hasSource(object)) return 'meets_filters';
    const status = statusOf(object);
    return status === 'coincident_sources' ? 'no_source_meets_filters' : status;
  }

  /** Whether a single current source meets every match filter. The sources of a pending object are not current. */
  #hasSource(object: StoredObject): boolean {
    if (object.state === 'pending' || object.matches.length === 0) return false;
    const sources = this.#needsSources ? this.#context.stored.getSources(object.diaObjectId) : [];
    return currentMatches(object).some(({ match, index }) =>
      this.#matchTests.every(test => test(match, sources[index])),
    );
  }
}

/**
 * A filter that nothing meets. It replaces a filter on a property that no longer exists, because the catalog was
 * registered again while the request waited.
 */
const NEVER_MET: Filter = {
  name: '',
  kind: 'property',
  bound: 'min',
  unit: null,
  isMatchFilter: true,
  description: '',
};

function knownFilters(filters: FilterValues, { filters: known }: Catalogs) {
  return filters.map(([name, value]) => [known.get(name) ?? NEVER_MET, value] as const);
}

/** Tests whether a match meets every match filter, and its object every object filter. */
export function matchTest(filters: FilterValues, catalogs: Catalogs): MatchTest {
  const tests = knownFilters(filters, catalogs).map(([filter, value]) => testOf(filter, value));
  return (object, match, source) =>
    tests.every(test => (test.object?.(object) ?? true) && (test.match?.(match, source) ?? true));
}

/** Tests whether an object meets every object filter; also says whether there is a match filter. */
export function objectTest(filters: FilterValues, catalogs: Catalogs): { test: ObjectTest; needsMatch: boolean } {
  const tests = knownFilters(filters, catalogs).map(([filter, value]) => testOf(filter, value));
  return {
    test: object => tests.every(({ object: test }) => test?.(object) ?? true),
    needsMatch: tests.some(({ match }) => match !== undefined),
  };
}

/** All objects and results that qualify have the reason `meets_filters`. */
export function qualification(reason: QualifiesReason) {
  return { qualifies: reason === 'meets_filters', qualifies_reason: reason };
}

/**
 * Tests an object, or one of its sources, with a filter. The code does not compile if a kind of filter is not handled
 * here.
 */
function testOf(filter: Filter, value: number | string): { object?: ObjectTest; match?: SourceTest } {
  const { kind, bound } = filter;
  switch (kind) {
    case 'reliability':
      return { object: ({ reliability }) => isWithin(reliability, bound, value) };
    case 'catalog':
      return { match: match => match.catalogName === value };
    case 'separation':
      return { match: match => isWithin(match.separationArcsec, bound, value) };
    case 'worth':
      return { match: match => isWithin(worthOf(match, match.statistics)[filter.worth!], bound, value) };
    case 'property':
      return { match: propertyTest(filter, value) };
  }
}

function propertyTest({ bound, catalog, field = '', derivedFrom }: Filter, value: number | string): SourceTest {
  return (match, source) => {
    if (match.catalogName !== catalog) return false;
    const { payload } = source ?? {};
    if (!derivedFrom) return isWithin(payload?.[field], bound, value);
    const [numerator, denominator] = [payload?.[derivedFrom.numerator], payload?.[derivedFrom.denominator]];
    // There is no quotient if the numerator or the denominator is missing or 0. A quotient that overflows is infinite.
    if (!isNumber(numerator) || !isNumber(denominator) || Number(denominator) === 0) return false;
    return isBeyond(Number(numerator) / Number(denominator), bound, value);
  };
}

function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || (typeof value === 'number' && Number.isFinite(value));
}

/** Whether a value is a number within the limit, inclusive. Bigints and numbers are compared exactly. */
function isWithin(value: unknown, bound: Filter['bound'], limit: number | string): boolean {
  return isNumber(value) && isBeyond(value, bound, limit);
}

function isBeyond(value: number | bigint, bound: Filter['bound'], limit: number | string): boolean {
  return bound === 'min' ? value >= (limit as number) : value <= (limit as number);
}
