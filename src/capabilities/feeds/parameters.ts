/** The parameters of feeds. */
import { textual } from '../../core/contract/kind.ts';
import { digits } from '../../core/documents/kinds.ts';
import { AREA, FILTERS, type Parameters } from '../../core/documents/parameters.ts';
import { keptId } from '../sample/parameters.ts';
import { OBJECT_STREAM_PARAMETERS } from '../streams/parameters.ts';
import { positionAfter } from '../streams/stream_events.ts';

export const MAX_ENTRIES = 500;
const DEFAULT_ENTRIES = 50;

const EVENT = textual('the id of an event, such as 12 or 12.3.1', positionAfter, {
  pattern: '^\\d{1,15}(\\.\\d{1,15}){0,2}$',
});

const PAGE = {
  limit: {
    kind: digits({ min: 1, max: MAX_ENTRIES, unit: 'count' }),
    description: 'Maximum number of entries. The link `next` leads to older ones.',
    default: DEFAULT_ENTRIES,
  },
  until: {
    kind: EVENT,
    description: 'Only the events up to the one with this id of the stream. The link `next` has it.',
  },
} satisfies Parameters;

export const MATCH_FEED_PARAMETERS = { ...PAGE, area: AREA.area, filters: FILTERS } satisfies Parameters;

export const OBJECT_FEED_PARAMETERS = {
  ...MATCH_FEED_PARAMETERS,
  status: OBJECT_STREAM_PARAMETERS.status,
} satisfies Parameters;

export const SAMPLE_FEED_PARAMETERS = { ...keptId, ...PAGE } satisfies Parameters;
