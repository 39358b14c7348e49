/** Names the query parameters that an operation ignores, in a header (docs/contract.md, Query strings). */
import { closestMatch } from 'leven';
import { shorten } from '../base/error_text.ts';
import { UNKNOWN_PARAMETERS_HEADER } from '../contract/headers.ts';
import type { Search } from './params.ts';
import { type Answer, exposing } from './respond.ts';

/** The maximum number of names in one header; the header also gives the number of further names. */
const MAX_NAMES = 8;
/**
 * A known name is suggested up to this number of edits, and up to this share of the unknown name's length. One edit is
 * always allowed; `fromat` needs two.
 */
const MAX_EDITS = 3;
const MAX_EDITS_SHARE = 0.4;

/** Adds the names of ignored parameters to the answer, if there are any. */
export function withUnknownParameters(answer: Answer, search: Search, known: ReadonlySet<string>): Answer {
  for (const name of search.keys()) if (!known.has(name)) return named(answer, search, known);
  return answer;
}

function named(answer: Answer, search: Search, known: ReadonlySet<string>): Answer {
  const unknown = [...search.keys()].filter(name => !known.has(name));
  const items = unknown.slice(0, MAX_NAMES).map(name => item(name, known));
  if (unknown.length > MAX_NAMES) items.push(`*;more=${unknown.length - MAX_NAMES}`);
  const headers = {
    ...answer.headers,
    [UNKNOWN_PARAMETERS_HEADER]: items.join(', '),
    ...exposing(answer.headers, UNKNOWN_PARAMETERS_HEADER),
  };
  return { ...answer, headers };
}

/** Percent-encodes a name; also `*`, which is reserved in this list. */
const encoded = (name: string) => encodeURIComponent(name.toWellFormed()).replaceAll('*', '%2A');

function item(name: string, known: ReadonlySet<string>): string {
  const shown = shorten(name);
  const maxDistance = Math.max(1, Math.min(MAX_EDITS, Math.floor(name.length * MAX_EDITS_SHARE)));
  const nearest = closestMatch(shown.toLowerCase(), [...known], { maxDistance });
  return nearest === undefined ? encoded(shown) : `${encoded(shown)};did-you-mean=${encoded(nearest)}`;
}
