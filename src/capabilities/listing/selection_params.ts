/** The parameters of operations that list the objects that meet filters. */

import type { Catalogs } from '../../core/contract/catalogs.ts';
import type { SelectionParameters } from '../../core/documents/parameters.ts';
import { requireUnchanged } from '../../core/http/cursor.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Search } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { SelectionQuery } from './selection.ts';

/** The first microsecond of year 1, and the first after year 9999: all times that can be written lie between them. */
export const ALL_TIME = { startUs: -62_135_596_800e6, endUs: 253_402_300_800e6 };

type Selection = Pick<
  SelectionQuery,
  'filters' | 'timeField' | 'status' | 'startUs' | 'endUs' | 'window' | 'detail' | 'pageSize'
>;

/** In the order in which they are checked. */
export function parseSelection(search: Search, parameters: SelectionParameters, catalogs: Catalogs): Selection {
  const read = readerOf(search, parameters, catalogs);
  const filters = read('filters');
  const start = read('start');
  const end = read('end');
  const timeField = read('time_field');
  const detail = read('detail');
  const pageSize = read('page_size');
  const status = read('status');
  const window = { start: start?.text ?? null, end: end?.text ?? null };
  const [startUs, endUs] = [start?.timeUs ?? ALL_TIME.startUs, end?.timeUs ?? ALL_TIME.endUs];
  if (endUs < startUs) {
    const message = `Cannot list the window from ${window.start} to ${window.end} because its end is before its start: give another start or end`;
    throw new ApiError('invalid_parameter', message, { params: ['start', 'end'] });
  }
  return { filters, timeField, status, startUs, endUs, window, detail, pageSize };
}

type Pinned = Pick<Selection, 'timeField' | 'status'>;

/**
 * The time field and the status for the next page of a walk; the request need not repeat them.
 * @param pinned the values in the cursor
 * @throws ApiError if the request gives another value
 */
export function walked(search: Search, selection: Selection, pinned: Pinned): Pinned {
  for (const [name, key] of [
    ['time_field', 'timeField'],
    ['status', 'status'],
  ] as const)
    requireUnchanged<string>(search, name, search.has(name) ? selection[key] : undefined, pinned[key]);
  return { timeField: pinned.timeField, status: pinned.status };
}
