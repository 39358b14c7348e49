/**
 * Answers Virtual Observatory cone searches: a VOTable of objects, or of the coincident sources of a catalog, nearest
 * first.
 */

import type { Cell, Info, Serialization } from '@nearsky/astrotables';
import { VotableWriter } from '@nearsky/astrotables';
import { isPosition, separationArcsec } from '@nearsky/sky-index';
import type { QueryContext, Steps } from '../../core/answers/context.ts';
import { type Circle, type Query, type QueryKind, queryKind } from '../../core/answers/queries.ts';
import { nowUs } from '../../core/base/times.ts';
import type { CatalogDefinition } from '../../core/contract/catalog.ts';
import { MAX_CROSSMATCH_RADIUS_ARCSEC } from '../../core/contract/limits.ts';
import { longestReachArcsec, yearsSince } from '../crossmatch/motion.ts';
import { OBJECTS_PER_POSITION } from '../objects/queries.ts';
import { type Row, readRow, rowsWithin, separationOf } from '../objects/search.ts';
import {
  type ConeSource,
  type FilledTable,
  OBJECTS,
  objectsAt,
  shownMatches,
  sourcesAt,
  type Verbosity,
} from './cone_tables.ts';
import { objectLinks } from './object_links.ts';

/**
 * This many items above the limit are collected before the furthest are dropped at once, because inserting each item in
 * order is slower.
 */
const SLACK = 1000;

/** A cone of up to this radius counts as a query for few objects, even if it may list many. */
const QUICK_RADIUS_ARCSEC = 60;

/** A cone search of the Virtual Observatory. The answer is a VOTable. */
export interface VoConeQuery extends Query, Circle {
  readonly kind: QueryKind<VoConeQuery>;
  /** One of `coneTargets`. */
  readonly target: string;
  readonly verbosity: Verbosity;
  /** The maximum number of rows. 0 requests the columns only, and so does a radius of 0. */
  readonly maxRecords: number;
  readonly serialization: Serialization;
  /** Strings in the answer that accompany the table. */
  readonly infos: readonly Info[];
  /** Scheme and host of this service. */
  readonly base: string;
}

export const VO_CONE = queryKind<VoConeQuery>({
  name: 'voCone',
  answer: voConeAnswer,
  objects: ({ radiusArcsec, maxRecords }) => (radiusArcsec <= QUICK_RADIUS_ARCSEC ? OBJECTS_PER_POSITION : maxRecords),
});

function voConeAnswer(query: VoConeQuery, context: QueryContext): Steps {
  const { target, verbosity } = query;
  if (target === OBJECTS) return objectsAnswer(query, context);
  return sourcesAnswer(query, context, target, sourcesAt(target, verbosity, context.fragments.settings.catalogs));
}

function* objectsAnswer(query: VoConeQuery, context: QueryContext): Steps {
  const table = objectsAt(query.verbosity, context.fragments.settings.catalogs);
  const nearest = new Nearest<{ readonly row: Row; readonly separationArcsec: number }>(
    query.maxRecords,
    ({ row }) => row.id,
  );
  for (const row of asksForRows(query) ? yield* rowsWithin(context, query) : []) {
    if (context.clock.due) yield;
    nearest.add({ row, separationArcsec: separationOf(context, query, row) });
  }
  const writer = begun(query, context, table);
  for (const { row, separationArcsec } of nearest.list()) {
    if (context.clock.due) yield;
    const object = readRow(context, row)?.decode();
    if (object) writer.row(rowOf(table, { object, separationArcsec }, context));
  }
  end(writer, query, nearest);
}

function* sourcesAnswer(
  query: VoConeQuery,
  context: QueryContext,
  catalog: string,
  table: FilledTable<ConeSource>,
): Steps {
  const nearest = new Nearest<ConeSource>(query.maxRecords, ({ object }) => object.diaObjectId);
  /** Sources without a position are in no cone. They are counted if their object is in this cone. */
  let leftOut = 0;
  const around = {
    ...query,
    radiusArcsec: query.radiusArcsec + furthestArcsec(context.fragments.settings.catalogs.get(catalog)),
  };
  for (const row of asksForRows(query) ? yield* rowsWithin(context, around) : []) {
    if (context.clock.due) yield;
    const view = readRow(context, row);
    if (!view?.hasMatches) continue;
    const { sources, withoutPosition } = sourcesOf(context, catalog, query);
    for (const source of sources) if (source.separationArcsec <= query.radiusArcsec) nearest.add(source);
    if (withoutPosition > 0 && separationOf(context, query, row) <= query.radiusArcsec) leftOut += withoutPosition;
  }
  for (let i = 0; i < leftOut; i++) context.fragments.onLeftOut('sourcesLeftOut');
  const writer = begun(leftOut > 0 ? withInfo(query, 'sources_without_position', leftOut) : query, context, table);
  for (const source of nearest.list()) {
    if (context.clock.due) yield;
    writer.row(rowOf(table, source, context));
  }
  end(writer, query, nearest);
}

/** How far an object may be from its source: a star has moved since the epoch of its catalog. */
function furthestArcsec(catalog: CatalogDefinition | undefined): number {
  const moved = catalog?.motion ? longestReachArcsec(yearsSince(catalog.motion.epoch, nowUs())) : 0;
  return MAX_CROSSMATCH_RADIUS_ARCSEC + moved;
}

/**
 * The current sources in one catalog of the object that was read last, and the number of sources without a position.
 */
function sourcesOf(
  { object: view, store, stored }: QueryContext,
  catalog: string,
  centre: VoConeQuery,
): { readonly sources: readonly ConeSource[]; readonly withoutPosition: number } {
  const object = view.decode();
  const listed = shownMatches(object).filter(({ match }) => match.catalogName === catalog);
  if (listed.length === 0) return { sources: [], withoutPosition: 0 };
  const found = stored.getSources(object.diaObjectId);
  const sources = listed.flatMap(({ match, index }): ConeSource[] => {
    const { ra, dec, payload } = found[index]!;
    if (ra === null || dec === null || !isPosition(ra, dec)) return [];
    const { catalogSourceId, matchVersion } = match;
    const record = object.records.find(each => each.matchVersion === matchVersion);
    const release = record && store.releaseIn(record, catalog);
    const separations = {
      separationArcsec: separationArcsec(centre.ra, centre.dec, ra, dec),
      objectSeparationArcsec: match.separationArcsec,
      objectSeparationAtEpochArcsec: match.separationAtEpochArcsec,
    };
    return [{ ra, dec, ...separations, catalogSourceId, release, payload, object }];
  });
  return { sources, withoutPosition: listed.length - sources.length };
}

/** The cells of a row. A value that its column cannot hold becomes null, and is counted. */
function rowOf<T>({ columns }: FilledTable<T>, of: T, { fragments }: QueryContext): Cell[] {
  return columns.map(({ cell }) => {
    const filled = cell(of);
    if (filled === undefined) fragments.onLeftOut('valuesLeftOut');
    return filled ?? null;
  });
}

function withInfo(query: VoConeQuery, name: string, value: number): VoConeQuery {
  return { ...query, infos: [...query.infos, { name, value: `${value}` }] };
}

/**
 * Whether the request asks for rows. MAXREC=0 (DALI 1.1, section 3.4.4) and SR=0 (Simple Cone Search 1.03, section 2.1)
 * request the columns only.
 */
function asksForRows({ maxRecords, radiusArcsec }: VoConeQuery): boolean {
  return maxRecords > 0 && radiusArcsec > 0;
}

function begun<T>(
  { serialization, infos, base }: VoConeQuery,
  { out }: QueryContext,
  table: FilledTable<T>,
): VotableWriter {
  const writer = new VotableWriter(out, { ...table, services: [objectLinks(base)] }, serialization);
  writer.begin(infos);
  return writer;
}

function end(
  writer: VotableWriter,
  { maxRecords }: VoConeQuery,
  { isComplete }: { readonly isComplete: boolean },
): void {
  writer.end(isComplete && maxRecords > 0 ? 'OK' : 'OVERFLOW');
}

/** Keeps the nearest of the items that are added; at the same separation, the items with the lowest ids. */
class Nearest<T extends { readonly separationArcsec: number }> {
  readonly #max: number;
  readonly #idOf: (each: T) => bigint;
  #kept: T[] = [];
  /** Whether all added items were kept. */
  isComplete = true;

  constructor(max: number, idOf: (each: T) => bigint) {
    this.#max = max;
    this.#idOf = idOf;
  }

  add(each: T): void {
    if (this.#kept.push(each) > 2 * this.#max + SLACK) this.list();
  }

  /** The items that were kept, nearest first. */
  list(): readonly T[] {
    const order = (a: T, b: T) => a.separationArcsec - b.separationArcsec || (this.#idOf(a) < this.#idOf(b) ? -1 : 1);
    this.#kept.sort(order);
    if (this.#kept.length > this.#max) {
      this.#kept.length = this.#max;
      this.isComplete = false;
    }
    return this.#kept;
  }
}
