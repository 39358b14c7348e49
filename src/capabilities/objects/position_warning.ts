/** The warning about positions in hours that were taken for degrees, as a header of the answer. */

import { POSITION_WARNING_HEADER } from '../../core/contract/headers.ts';
import { LIKE_HOURS, looksLikeHours } from '../../core/contract/hours.js';
import type { RaUnit } from '../../core/contract/table_match.ts';
import { type Answer, exposing } from '../../core/http/respond.ts';
import type { LookupInput } from './queries.ts';

/** @param raUnit the unit that the request states */
export function warned(answer: Answer, inputs: readonly LookupInput[], raUnit: RaUnit | undefined): Answer {
  if (raUnit !== undefined) return answer;
  const places = inputs.filter(input => input.kind === 'position');
  const isDoubtful = looksLikeHours(
    places.map(({ ra }) => ra),
    places.map(({ dec }) => dec),
  );
  return isDoubtful
    ? { ...answer, headers: { ...answer.headers, ...positionWarning(answer.headers, LIKE_HOURS) } }
    : answer;
}

/** The header for a warning, and the one that lets pages read it. @param headers the answer's other headers */
export function positionWarning(headers: Answer['headers'], warning: string | undefined): Record<string, string> {
  if (warning === undefined) return {};
  return { [POSITION_WARNING_HEADER]: warning, ...exposing(headers, POSITION_WARNING_HEADER) };
}
