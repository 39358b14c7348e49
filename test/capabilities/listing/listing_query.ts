import { ALL_TIME } from '../../../src/capabilities/listing/selection_params.ts';
import { OBJECTS } from '../../core/http/spent_time.ts';
import { NOW_US } from '../../core/http/support.ts';

/** A listing of all objects, without its filters. */
export const LISTING = {
  response: 'objects',
  ...ALL_TIME,
  timeField: 'ingest_time',
  status: 'any',
  window: { start: null, end: null },
  detail: 'ids',
  pageSize: OBJECTS,
  asOfUs: NOW_US,
} as const;
