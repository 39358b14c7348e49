/** Schemas of the walk over recent crossmatches. */

import { schemaOf } from '../../core/documents/openapi/parameters.ts';
import { count, list, open, orNull, ref, text, time } from '../../core/documents/openapi/schema.ts';
import { TIME_FIELD } from '../../core/documents/parameters.ts';
import { declination, rightAscension } from '../objects/common_schemas.ts';
import { detailLevel, nextCursor, pageSize } from '../objects/lookup_schemas.ts';

export const timeField = schemaOf(TIME_FIELD);

const windowTime = (description: string) => text(description, { format: 'date-time' });

export function recentSchemas() {
  return {
    RecentObject: open(
      'An object with coincident sources, at the detail level of the request.',
      {
        diaObjectId: ref('DiaObjectId'),
        diaObjectId_str: ref('DiaObjectIdStr'),
        ra: orNull(rightAscension),
        dec: orNull(declination),
        matches: list(
          {
            anyOf: [ref('PublishedMatch'), ref('MatchSummary')],
            description: 'A summary at `matches`, the published form at `full`.',
          },
          'The coincident sources, by catalog name, then source id, both as text.',
        ),
      },
      ['ra', 'dec', 'matches'],
    ),
    RecentCrossmatchesPage: {
      ...page,
      // The second alternative is needed because one client generator drops a list of alternatives that has only one
      // entry.
      allOf: [ref('Envelope'), { type: 'object' }],
    },
  };
}

const page = open('One page of the objects in a window that have coincident sources, newest first.', {
  provenance: ref('Provenance'),
  window: open('The window.', {
    start: windowTime('Start, inclusive; on the first page with the UTC offset of the request.'),
    end: windowTime('End, exclusive; on the first page with the UTC offset of the request.'),
  }),
  time_field: timeField,
  detail: detailLevel,
  page_size: pageSize,
  count: count('Number of objects on this page; not a total.'),
  next_cursor: nextCursor,
  objects: list(ref('RecentObject'), 'The objects: time descending, then identifier ascending.'),
  as_of: time('Time of the first page. The walk contains objects ingested up to this time.'),
});
