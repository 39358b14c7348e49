import { compare } from '../base/compare.ts';
import type { MatchSummary } from './types.ts';

export interface ListedMatch {
  readonly match: MatchSummary;
  /** The index of the match in the object's `matches`, and of its source in the sources. */
  readonly index: number;
}

/**
 * The current matches of an object: the newest version of each source, sorted by catalog name, then by source id as a
 * string.
 */
export function newestMatches(matches: readonly MatchSummary[]): ListedMatch[] {
  const newest = new Map<string, ListedMatch>();
  matches.forEach((match, index) => {
    const key = `${match.catalogName} ${match.catalogSourceId}`;
    const known = newest.get(key);
    if (!known || match.matchVersion > known.match.matchVersion) newest.set(key, { match, index });
  });
  return [...newest.values()].sort(
    ({ match: a }, { match: b }) =>
      compare(a.catalogName, b.catalogName) || compare(a.catalogSourceId, b.catalogSourceId),
  );
}
