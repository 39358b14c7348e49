/**
 * Decides which matches of an object are current: at most one source per catalog, all found by one crossmatch. Status,
 * filters, counts, listings, ADQL and exports use these alone. Matches of earlier crossmatches are history.
 *
 * The newest record decides alone. A catalog that it could not read, or that it does not name, has no current source,
 * because the object's outcome for that catalog says so; an older source beside it would be an answer that nothing
 * confirms.
 */
import { compare } from '../base/compare.ts';
import type { MatchSummary, StoredObject } from './types.ts';

export interface ListedMatch {
  readonly match: MatchSummary;
  /** The index of the match in the object's `matches`, and of its source in the sources. */
  readonly index: number;
}

type Crossmatched = Pick<StoredObject, 'records' | 'matches'>;

/**
 * The version of the current crossmatch: that of the newest record. Without a record, the highest version of a match;
 * undefined without a match.
 */
export function currentVersion({ records, matches }: Crossmatched): number | undefined {
  return records.at(-1)?.matchVersion ?? highest(matches.map(({ matchVersion }) => matchVersion));
}

export function highest(versions: readonly number[]): number | undefined {
  return versions.length > 0 ? Math.max(...versions) : undefined;
}

/** The current matches of an object, by catalog name. For a stored view, see `ObjectView.currentMatches`. */
export function currentMatches(object: Crossmatched): ListedMatch[] {
  if (object.matches.length === 0) return [];
  const version = currentVersion(object);
  const found = object.matches.flatMap((match, index) => (match.matchVersion === version ? { match, index } : []));
  return nearestOfCatalogs(
    found,
    ({ match }) => match.catalogName,
    ({ match }) => match.separationAtEpochArcsec ?? match.separationArcsec,
  );
}

/**
 * The nearest match of each catalog, by catalog name. Only imports have several of one crossmatch; of equally near ones
 * the first is taken.
 */
export function nearestOfCatalogs<T>(
  matches: readonly T[],
  catalogOf: (match: T) => string,
  separationOf: (match: T) => number,
): T[] {
  const nearest = new Map<string, T>();
  for (const match of matches) {
    const known = nearest.get(catalogOf(match));
    if (known === undefined || separationOf(match) < separationOf(known)) nearest.set(catalogOf(match), match);
  }
  return [...nearest].sort(([a], [b]) => compare(a, b)).map(([, match]) => match);
}
