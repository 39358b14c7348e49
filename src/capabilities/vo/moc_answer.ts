/** Answers with the coverage maps of the objects and of the catalogs. */
import { type Arena, pixelOf } from '@nearsky/sky-index';
import { Coverage } from '@nearsky/sky-index/areas';
import type { InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import { type Query, type QueryKind, queryKind } from '../../core/answers/queries.ts';
import { OBJECTS_MOC_ORDER } from '../../core/contract/limits.ts';
import { readCatalog } from '../../core/store/catalog_registration.ts';
import { openCoverage } from '../catalogs/coverage.ts';
import { type MocFormat, mocCells, writeMoc } from '../catalogs/moc.ts';
import { leftOut } from '../objects/search.ts';
import { OBJECTS } from './cone_tables.ts';

/** The number of rows that are read between two checks of the clock. */
const ROWS_A_LOOK = 256;

/** A coverage map. The answer is empty if the catalog is not registered. */
export interface MocQuery extends Query {
  readonly kind: QueryKind<MocQuery>;
  /** One of `coneTargets`. */
  readonly target: string;
  readonly encoding: MocFormat;
}

export const MOC_QUERY = queryKind<MocQuery>({
  name: 'moc',
  answer: mocAnswer,
  objects: () => Number.POSITIVE_INFINITY,
});

/** Writes the map. Writes nothing if the catalog is not registered. */
function* mocAnswer({ target, encoding }: MocQuery, context: QueryContext): Steps {
  const { store, out } = context;
  const registered = target === OBJECTS ? undefined : readCatalog(store.databases, target);
  if (target !== OBJECTS && !registered) return;
  const coverage = registered ? openCoverage(registered.coverage) : yield* coverageOfObjects(context);
  out.fragment(writeMoc(mocCells(coverage), encoding, target));
}

/** The pixels that contain an object. */
function* coverageOfObjects(context: QueryContext): InSteps<Coverage> {
  const { index, clock } = context;
  const isLeftOut = leftOut(context);
  const pixels = new Set<number>();
  for (const [number, arena] of index.arenas.entries()) {
    let looked = 0;
    for (let row = 0; row < arena.length; ) {
      if (looked++ % ROWS_A_LOOK === 0 && clock.due) yield;
      if (isLeftOut?.({ id: arena.id(row), arena: number })) {
        row++;
        continue;
      }
      const pixel = pixelOfRow(arena, row);
      pixels.add(pixel);
      row = endOfPixel(arena, row, pixel);
    }
  }
  return Coverage.fromPixels(OBJECTS_MOC_ORDER, pixels);
}

/**
 * The next row that is in another pixel than `row`. An arena's rows are sorted by finer pixels, so the rows of a pixel
 * are contiguous.
 */
function endOfPixel(arena: Arena, row: number, pixel: number): number {
  let inside = row;
  let step = 1;
  while (inside + step < arena.length && pixelOfRow(arena, inside + step) === pixel) {
    inside += step;
    step *= 2;
  }
  let outside = Math.min(inside + step, arena.length);
  while (outside - inside > 1) {
    const middle = (inside + outside) >> 1;
    if (pixelOfRow(arena, middle) === pixel) inside = middle;
    else outside = middle;
  }
  return outside;
}

function pixelOfRow(arena: Arena, row: number): number {
  return pixelOf(OBJECTS_MOC_ORDER, arena.ra(row), arena.dec(row));
}
