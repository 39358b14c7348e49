/** The tool that searches for objects around a position (docs/contract.md, Connector). */

import { COMPACT, toJson } from '@nearsky/astrotables/json';
import type { Circle } from '../answers/queries.ts';
import { nearest } from './answers.ts';
import { coneUrl } from './recipes.ts';
import { noObjectWithin, notesOf, type Summary, summaryOf } from './summary.ts';
import type { ToolContext } from './tool_context.ts';

/** The text of the answer. */
export async function searchNearPosition(circle: Circle, context: ToolContext): Promise<string> {
  const { service, budget } = context;
  const { MCP_MAX_OBJECTS, MCP_MAX_RESULT_CHARS } = service.config;
  const { total, objects } = await nearest(service, circle, MCP_MAX_OBJECTS, budget);
  const summaries = objects.map(object => summaryOf(object, service));
  const reasons = total > summaries.length ? ['chat_object_limit'] : [];
  let text = toJson(answer(circle, total, summaries, reasons, context.base), COMPACT);
  while (text.length > MCP_MAX_RESULT_CHARS && summaries.pop()) {
    if (!reasons.includes('chat_size_limit')) reasons.push('chat_size_limit');
    text = toJson(answer(circle, total, summaries, reasons, context.base), COMPACT);
  }
  return text;
}

/** Keys as on the wire. */
function answer(circle: Circle, total: number, objects: readonly Summary[], reasons: readonly string[], base: string) {
  const status = total > 0 ? 'objects_found' : 'no_rubin_object';
  const full_results = {
    note: `${total - objects.length} of ${total} objects are left out here. This address lists all of them in pages, in the order of their ingest, not by separation.`,
    url: coneUrl(base, circle),
  };
  return {
    center: { ra: circle.ra, dec: circle.dec },
    radius_arcsec: circle.radiusArcsec,
    order: 'nearest_first',
    status,
    reason: total > 0 ? undefined : noObjectWithin(circle.radiusArcsec, 'the position'),
    objects_total: total,
    objects_returned: objects.length,
    truncated: reasons.length > 0,
    truncation: reasons.length > 0 ? { reasons, full_results } : undefined,
    objects,
    ...notesOf(objects, [status]),
  };
}
