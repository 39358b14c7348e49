/** Recent crossmatches. */

import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { tableResponses } from '../../core/documents/openapi/responses.ts';
import { ref } from '../../core/documents/openapi/schema.ts';
import type { Operations } from '../../core/host.ts';
import { recentCrossmatches, recentParameters } from './recent_crossmatches.ts';

export const operations: Operations = [
  {
    name: 'recent_crossmatches',
    method: 'GET',
    path: '/api/recent-crossmatches',
    isSpecified: true,
    document: (config, catalogs) => ({
      summary: 'Objects with coincident sources in a recent window, newest first, page by page.',
      description:
        `Objects whose alert is in a time window of at most ${config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS} hours. Objects without a match are ` +
        'not listed; no object is repeated in a walk. Follow `next_cursor` until it is null. Filters and `response` are refused with ' +
        '`unsupported_parameter`. A large page at `full` can exceed the time budget: use a smaller `page_size`.',
      parameters: documentedParameters(recentParameters(config), catalogs),
      responses: tableResponses('One page.', ref('RecentCrossmatchesPage'), 'filters_span_catalogs'),
    }),
    handler: recentCrossmatches,
  },
];
