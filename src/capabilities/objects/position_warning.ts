/** The warning about positions in hours that were taken for degrees, as a header of the answer. */

import { POSITION_WARNING_HEADER } from '../../core/contract/headers.ts';
import { LIKE_HOURS, looksLikeHours } from '../../core/contract/hours.js';
import type { RaUnit } from '../../core/contract/table_match.ts';
import type { Answer } from '../../core/http/respond.ts';
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

/** The header for a warning, and that pages may read it. @param headers the others of the answer */
export function positionWarning(headers: Answer['headers'], warning: string | undefined): Record<string, string> {
  if (warning === undefined) return {};
  const exposed = headers['Access-Control-Expose-Headers'];
  return {
    [POSITION_WARNING_HEADER]: warning,
    'Access-Control-Expose-Headers': `${exposed === undefined ? '' : `${exposed}, `}${POSITION_WARNING_HEADER}`,
  };
}
