/**
 * The parameters of a query string that an operation ignores: a header names them (docs/contract.md, Query strings).
 */
import { closestMatch } from 'leven';
import { UNKNOWN_PARAMETERS_HEADER } from '../contract/headers.ts';
import { shorten } from './errors.ts';
import type { Search } from './params.ts';
import type { Answer } from './respond.ts';

/** The most names in one header, which then says how many more there are. */
const MAX_NAMES = 8;
/**
 * The most edits that may turn a name into a known one, and their largest share of its length; one edit is always
 * allowed, two for `fromat`.
 */
const MAX_EDITS = 3;
const MAX_EDITS_SHARE = 0.4;

/** The answer, with the names of what was ignored where there is any. */
export function withUnknownParameters(answer: Answer, search: Search, known: ReadonlySet<string>): Answer {
  for (const name of search.keys()) if (!known.has(name)) return named(answer, search, known);
  return answer;
}

function named(answer: Answer, search: Search, known: ReadonlySet<string>): Answer {
  const unknown = [...search.keys()].filter(name => !known.has(name));
  const items = unknown.slice(0, MAX_NAMES).map(name => item(name, known));
  if (unknown.length > MAX_NAMES) items.push(`*;more=${unknown.length - MAX_NAMES}`);
  const exposed = answer.headers['Access-Control-Expose-Headers'];
  const headers = {
    ...answer.headers,
    [UNKNOWN_PARAMETERS_HEADER]: items.join(', '),
    'Access-Control-Expose-Headers': exposed ? `${exposed}, ${UNKNOWN_PARAMETERS_HEADER}` : UNKNOWN_PARAMETERS_HEADER,
  };
  return { ...answer, headers };
}

/** Percent-encoded, `*` too, which is no name in this list. */
const encoded = (name: string) => encodeURIComponent(name.toWellFormed()).replaceAll('*', '%2A');

function item(name: string, known: ReadonlySet<string>): string {
  const shown = shorten(name);
  const maxDistance = Math.max(1, Math.min(MAX_EDITS, Math.floor(name.length * MAX_EDITS_SHARE)));
  const nearest = closestMatch(shown.toLowerCase(), [...known], { maxDistance });
  return nearest === undefined ? encoded(shown) : `${encoded(shown)};did-you-mean=${encoded(nearest)}`;
}
