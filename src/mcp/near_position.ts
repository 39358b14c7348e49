/** The tool that searches for objects around a position (docs/contract.md, Connector). */

import type { Circle } from '../answers/queries.ts';
import { nearest } from './answers.ts';
import { coneUrl } from './recipes.ts';
import { listingText, noObjectWithin } from './summary.ts';
import type { ToolContext } from './tool_context.ts';

/** The text of the answer. */
export async function searchNearPosition(circle: Circle, context: ToolContext): Promise<string> {
  const { service } = context;
  const { total, objects } = await nearest(circle, service.config.MCP_MAX_OBJECTS, context);
  const status = total > 0 ? 'objects_found' : 'no_rubin_object';
  const head = {
    center: { ra: circle.ra, dec: circle.dec },
    radius_arcsec: circle.radiusArcsec,
    order: 'nearest_first',
    status,
    reason: total > 0 ? undefined : noObjectWithin(circle.radiusArcsec, 'the position'),
    objects_total: total,
  };
  return listingText(service, head, objects, [status], total > objects.length, shown => ({
    note: `${total - shown} of ${total} objects are left out here. This address lists all of them in pages, ordered by ingest time, not by separation.`,
    url: coneUrl(context.base, circle),
  }));
}
