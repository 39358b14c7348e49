/** Answers with the objects in an area, or with their number (docs/contract.md, Areas). */
import { toJson } from '@nearsky/astrotables/json';
import { type AreaPlace, type AreaRow, countArea, isPlaceIn, walkArea } from '@nearsky/sky-index/areas';
import type { Clock, InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import { AREA_CURSOR, encodeCursor, stateOf } from '../../core/answers/cursor.ts';
import { type QueryKind, queryKind, type WholeTable } from '../../core/answers/queries.ts';
import { AreaError } from '../../core/base/area_error.ts';
import type { AreaResponse } from '../../core/contract/enums.ts';
import { type ReadArea, readArea } from '../catalogs/read_area.ts';
import {
  type Candidates,
  type SelectionQuery,
  selector,
  WEIGHT_OF_SELECTION,
  writeCount,
  writeSelection,
} from '../listing/selection.ts';
import { leftOut, readRow } from '../objects/search.ts';
import { areaOutline } from './area_outline.ts';

/** The pixels of an outline: enough to draw it on a screen. */
const MAX_OUTLINE_PIXELS = 8192;
const OUTLINE_DIGITS = 5;
/** The regions of a map that its outline has as well. */
const CONTOUR_LEVELS = [0.5, 0.9];

/** A page of the objects in an area, their number, or the outline of the area. */
export interface AreaQuery extends SelectionQuery<AreaPlace> {
  readonly kind: QueryKind<AreaQuery>;
  readonly response: AreaResponse;
  /** A string, or an area that was read from a string or a file. */
  readonly area: Uint8Array | ReadArea;
  /** The credible level of a probability map. Other areas have the default. */
  readonly level: number;
  /** Identifies `area` and `level`, also in cursors. Equal areas have equal digests. */
  readonly digest: string;
}

export const AREA_QUERY = queryKind<AreaQuery>({
  name: 'area',
  answer: areaAnswer,
  *list(query, context, listOf) {
    const candidates = yield* areaCandidates(query, context);
    yield* writeSelection(query, context, candidates, listOf(candidates.levelOf !== undefined));
  },
  ...WEIGHT_OF_SELECTION,
  searchesIndex: () => true,
});

export function* areaAnswer(query: AreaQuery, context: QueryContext): Steps {
  if (query.response === 'count') yield* countAnswer(query, context);
  else if (query.response === 'outline') yield* outlineAnswer(query, context);
  else yield* writeSelection(query, context, yield* areaCandidates(query, context));
}

function* countAnswer(query: AreaQuery, context: QueryContext): Steps {
  const read = yield* areaOf(query, context);
  writeCount(query, context, aboutArea(read), yield* countOf(read, query, context));
}

function* outlineAnswer(query: AreaQuery, context: QueryContext): Steps {
  const { clock } = context;
  const read = yield* areaOf(query, context);
  const whole = yield* edgesOf(read, clock);
  const contours = [];
  for (const level of CONTOUR_LEVELS)
    if (read.level !== null && level < read.level) contours.push({ level, ...(yield* edgesOf(read, clock, level)) });
  const outline = { response: 'outline', ...aboutArea(read), ...whole, ...(read.level !== null && { contours }) };
  context.out.fragment(context.fragments.start);
  context.out.longText(`, ${toJson(outline).slice(1)}`);
}

/** @param level of a map: the region up to this level */
function* edgesOf({ area }: ReadArea, clock: Clock, level?: number) {
  const { order, edges } = yield* steps(clock, areaOutline(area, MAX_OUTLINE_PIXELS, level));
  const rounded = edges.map(each => Number(each.toFixed(OUTLINE_DIGITS)));
  return { order, edges: Array.from({ length: rounded.length / 4 }, (_, i) => rounded.slice(4 * i, 4 * i + 4)) };
}

function aboutArea({ kind, level }: ReadArea) {
  return { area: { kind, level } };
}

function* areaCandidates(query: AreaQuery, context: QueryContext): InSteps<Candidates<AreaRow>> {
  const read = yield* areaOf(query, context);
  const { timeField, status, asOfUs, digest, after } = query;
  if (after && !isPlaceIn(read.area, after))
    throw new AreaError(
      'Cannot use the cursor because its position is outside the area: give the next_cursor of a page, unchanged',
      'cursor',
    );
  const isKnownOut = outsideByIndex(query, context);
  return {
    pieces: piecesOf(read, context, after ?? undefined),
    read: row => (isKnownOut(row) ? undefined : objectOf(row, context)),
    levelOf: read.level === null ? undefined : ({ level }) => level,
    cursorAfter: ({ level, pixel, id }) =>
      encodeCursor(AREA_CURSOR, { level, pixel, id, timeField, status, asOfUs, digest, ...stateOf(context) }),
    about: aboutArea(read),
  };
}

/** The number of rows that are looked up without a yield. */
const LOOKED_UP_ROWS = 64;

/** The objects of the area in pieces, in the state that the query reads. */
function* piecesOf({ area }: ReadArea, context: QueryContext, after?: AreaPlace): Iterable<readonly AreaRow[]> {
  const isLeftOut = leftOut(context);
  for (const piece of walkArea(context.index, area, after)) {
    if (!isLeftOut || piece.length === 0) yield piece;
    else
      for (let at = 0; at < piece.length; at += LOOKED_UP_ROWS)
        yield piece.slice(at, at + LOOKED_UP_ROWS).filter(row => !isLeftOut(row));
  }
}

/** The area of the previous query. It is cached, because the pages of a walk and its count have the same area. */
let lastRead: { readonly digest: string; readonly read: ReadArea } | undefined;

/** The cached area, if it has this digest. */
export function areaReadLast(digest: string): ReadArea | undefined {
  return lastRead?.digest === digest ? lastRead.read : undefined;
}

/** The areas of walks that are sent as one table, each read only once. */
const areas = new WeakMap<WholeTable, ReadArea>();

function* areaOf({ digest, area, level, whole }: AreaQuery, { clock }: QueryContext): InSteps<ReadArea> {
  const ofWhole = whole && areas.get(whole);
  if (ofWhole) return ofWhole;
  if (lastRead?.digest !== digest)
    lastRead = { digest, read: 'kind' in area ? area : yield* steps(clock, readArea(area, level)) };
  if (whole) areas.set(whole, lastRead.read);
  return lastRead.read;
}

/** Runs work in small parts, with a yield between parts when a pause is due. Returns the result. */
function* steps<T>(clock: Clock, work: InSteps<T>): InSteps<T> {
  for (let part = work.next(); ; part = work.next()) {
    if (part.done) return part.value;
    if (clock.due) yield;
  }
}

/**
 * The number of objects in the area. Reads an object only if a filter, or a time that the index lacks, requires that.
 */
function* countOf(read: ReadArea, query: AreaQuery, context: QueryContext): InSteps<number> {
  const { filters, status, timeField } = query;
  const { start, end } = query.window;
  if (!filters && status === 'any' && start === null && end === null && !leftOut(context))
    return yield* steps(context.clock, countArea(context.index, read.area));
  const isKnownOut = outsideByIndex(query, context);
  const meets = selector(query, context);
  const needsObject = filters !== null || status !== 'any' || timeField === 'event_time';
  let count = 0;
  for (const piece of piecesOf(read, context)) {
    if (context.clock.due) yield;
    for (const row of piece) {
      if (context.clock.due) yield;
      if (isKnownOut(row)) continue;
      const object = needsObject ? objectOf(row, context) : undefined;
      if (!needsObject || (object && meets(object))) count++;
    }
  }
  return count;
}

/** Whether a row is excluded by its ingest time, which the index has. */
function outsideByIndex(
  { timeField, startUs, endUs, asOfUs }: AreaQuery,
  context: QueryContext,
): (row: AreaRow) => boolean {
  const byIngest = timeField === 'ingest_time';
  return row => {
    const timeUs = timeOf(row, context);
    return timeUs > asOfUs || (byIngest && !(timeUs >= startUs && timeUs < endUs));
  };
}

function timeOf({ arena, row }: AreaRow, { index }: QueryContext): number {
  return index.arenas[arena]!.time(row);
}

function objectOf(row: AreaRow, context: QueryContext) {
  return readRow(context, { ...row, timeUs: timeOf(row, context) });
}
