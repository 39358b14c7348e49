/** The parameters of feeds. */

import { ANY_TEXT, digits } from '../../core/documents/kinds.ts';
import { AREA, FILTERS, type Parameters } from '../../core/documents/parameters.ts';
import { keptId } from '../sample/parameters.ts';
import { OBJECT_STREAM_PARAMETERS } from '../streams/parameters.ts';

export const MAX_ENTRIES = 500;
const DEFAULT_ENTRIES = 50;

const PAGE = {
  limit: {
    kind: digits({ min: 1, max: MAX_ENTRIES, unit: 'count' }),
    description: 'Maximum number of entries. The link `next` leads to older ones.',
    default: DEFAULT_ENTRIES,
  },
  until: {
    kind: ANY_TEXT,
    description: 'Only the events up to the one with this id of the stream. The link `next` has it.',
  },
} satisfies Parameters;

export const MATCH_FEED_PARAMETERS = { ...PAGE, area: AREA.area, filters: FILTERS } satisfies Parameters;

export const OBJECT_FEED_PARAMETERS = {
  ...MATCH_FEED_PARAMETERS,
  status: OBJECT_STREAM_PARAMETERS.status,
} satisfies Parameters;

export const SAMPLE_FEED_PARAMETERS = { ...keptId, ...PAGE } satisfies Parameters;
