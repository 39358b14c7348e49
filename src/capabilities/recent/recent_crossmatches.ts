/** GET /api/recent-crossmatches */
import { type CursorOf, RECENT_CURSOR } from '../../core/answers/cursor.ts';
import { memoized } from '../../core/base/memoized.ts';
import type { Instant } from '../../core/base/parse_time.ts';
import { formatTime } from '../../core/base/times.ts';
import type { Config } from '../../core/config/config.ts';
import { requestLimits } from '../../core/config/described_limits.ts';
import { DEFAULT_WINDOW_HOURS } from '../../core/contract/limits.ts';
import { ANY_INTEGER } from '../../core/documents/kinds.ts';
import { FORMAT, ISO, type Parameters, walkParameters } from '../../core/documents/parameters.ts';
import { answering } from '../../core/http/answer_query.ts';
import { readCursor, requireUnchanged } from '../../core/http/cursor.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { optional, type Search } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import type { RecentQuery } from './recent_answer.ts';
import { RECENT } from './recent_answer.ts';

const HOUR_US = 3_600_000_000;

export const recentParameters = memoized((config: Config) => {
  const { max_window_hours } = requestLimits(config).recent_crossmatches;
  return {
    ...walkParameters(
      config,
      `${ISO} Default: ${DEFAULT_WINDOW_HOURS} hours before \`end\`.`,
      `, at most ${max_window_hours} hours after \`start\`. ${ISO} Default: now.`,
      '`start`, `end`, `time_field`, `detail` and `as_of`; a conflicting value is refused.',
    ),
    format: FORMAT,
  } satisfies Parameters;
});

export const recentCrossmatches = answering(parse);

type Pinned = CursorOf<typeof RECENT_CURSOR>;

/**
 * Parses the request. The contract defines the order of the checks (docs/contract.md, Recent crossmatches); refused
 * names come first.
 */
function parse({ search }: Exchange, service: Service): RecentQuery {
  const { config, catalogs } = service;
  const read = readerOf(search, recentParameters(config), catalogs);
  const start = read('start');
  const end = read('end');
  optional(search, 'page_size', ANY_INTEGER);
  const token = search.get('cursor');
  const pinned = token === undefined ? undefined : readCursor(RECENT_CURSOR, token);
  if (pinned) checkUnchanged(search, start, end, pinned);
  const detail = pinned?.detail ?? read('detail');
  const timeField = pinned?.timeField ?? read('time_field');
  const asOfUs = pinned?.asOfUs ?? service.asOfUs;
  const pageSize = read('page_size');
  const window = pinned ? pinnedWindow(pinned) : firstWindow(start, end, Math.min(asOfUs, service.presentUs));
  checkWindow(window, config, pinned ? ['cursor'] : ['start', 'end']);
  const after = pinned ? { timeUs: pinned.timeUs, diaObjectId: pinned.diaObjectId, archive: pinned.archive } : null;
  return { kind: RECENT, timeField, ...window, detail, pageSize, asOfUs, after };
}

function checkUnchanged(search: Search, start: Instant | undefined, end: Instant | undefined, pinned: Pinned): void {
  requireUnchanged(search, 'start', start?.timeUs, pinned.startUs, formatTime(pinned.startUs));
  requireUnchanged(search, 'end', end?.timeUs, pinned.endUs, formatTime(pinned.endUs));
  requireUnchanged<string>(search, 'time_field', search.get('time_field'), pinned.timeField);
  requireUnchanged<string>(search, 'detail', search.get('detail'), pinned.detail);
}

type Window = Pick<RecentQuery, 'startUs' | 'endUs' | 'window'>;

/**
 * The first window. Each end is shown with the UTC offset of the request; a default start has the offset of the end.
 */
function firstWindow(start: Instant | undefined, end: Instant | undefined, now: number): Window {
  const { timeUs: endUs, offsetMinutes, text } = end ?? { timeUs: now, offsetMinutes: 0, text: formatTime(now) };
  const startUs = start?.timeUs ?? endUs - DEFAULT_WINDOW_HOURS * HOUR_US;
  return { startUs, endUs, window: { start: start?.text ?? formatTime(startUs, offsetMinutes), end: text } };
}

function pinnedWindow({ startUs, endUs }: Pinned): Window {
  return { startUs, endUs, window: { start: formatTime(startUs), end: formatTime(endUs) } };
}

function checkWindow({ startUs, endUs, window }: Window, config: Config, params: readonly string[]): void {
  const hours = config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS;
  const isBackwards = endUs < startUs;
  if (!isBackwards && endUs - startUs <= hours * HOUR_US) return;
  const why = isBackwards ? 'its end is before its start' : `it is longer than ${hours} hours`;
  const message = `Cannot list the window from ${window.start} to ${window.end} because ${why}: give another start or end`;
  throw new ApiError('invalid_parameter', message, { params });
}
