/** The tools that list objects: around a position, in an area, and the latest ones (docs/contract.md, Connector). */

import type { Circle } from '../../core/answers/queries.ts';
import type { ToolRun } from '../../core/http/tool.ts';
import { nearest } from './answers.ts';
import { coneUrl } from './recipes.ts';
import { connectorSettings } from './settings.ts';
import { listingText, noObjectWithin } from './summary.ts';

export const searchNearPosition =
  (circle: Circle): ToolRun =>
  async context => {
    const { service } = context;
    const { total, objects } = await nearest(circle, connectorSettings.of(service.config).MCP_MAX_OBJECTS, context);
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
  };
