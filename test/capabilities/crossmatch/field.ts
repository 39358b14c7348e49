/** A field of objects and sources, of which most have errors of their positions. */
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import type { Delivery } from '../../../src/core/store/types.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import { TestApp } from '../../core/http/support.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { inWorld, type World } from './world.ts';

export interface Located extends Place {
  /** mas; null if unknown. */
  readonly errors: readonly [ra: number | null, dec: number | null];
}

export const idOf = (row: number) => 4_000_000_000_000_000_000n + BigInt(row);

/** In small partitions, so that the sources of an object often lie in several. */
export async function addSources(world: World, sources: readonly Located[]): Promise<void> {
  const ids = sources.map((_, row) => idOf(row));
  const [ra, dec] = [sources.map(source => source.ra), sources.map(source => source.dec)];
  const columns = catalogColumns(catalogDefinition('gaia_dr3')!, ra, dec, ids).map(column => {
    const at = ['ra_error', 'dec_error'].indexOf(column.name);
    return at < 0 ? column : { ...column, data: sources.map(({ errors }) => errors[at]!) };
  });
  await world.addCatalog('gaia_dr3', sources, { columns, maxRows: 40, maxOrder: 20 }, ids);
}

export const deliveryOf = ({ ra, dec }: Place, at: number, errorMas: number | undefined): Delivery => ({
  diaObjectId: 1n + BigInt(at),
  position: { ra, dec },
  reliability: 0.9,
  ...(errorMas !== undefined && { positionErrorMas: errorMas }),
  eventTimeUs: 1_767_225_600_000_000,
  broker: 'lasair',
});

/** Objects in a field of a square degree, each with one to four sources around it; some errors are not known. */
export function makeField() {
  const random = seededRandom(11);
  const objects = Array.from({ length: 300 }, (_, at) => ({
    ra: 10 + random(),
    dec: random() - 0.5,
    errorMas: at % 20 === 0 ? undefined : Number((20 + 300 * random()).toPrecision(4)),
  }));
  const error = () => Math.fround(1 + 300 * random());
  const sources = objects.flatMap(object =>
    Array.from({ length: 1 + Math.floor(4 * random()) }, (_, k): Located => {
      const errors = [k === 2 && random() < 0.2 ? null : error(), error()] as const;
      return { ...offset(object, 1.2 * Math.sqrt(random()), 2 * Math.PI * random()), errors };
    }),
  );
  return { objects, sources };
}

export const isKnown = ({ errors }: Located) => errors[0] !== null;
/** As NWAY makes a circle of an ellipse. */
export const circleOf = ([ra, dec]: Located['errors']) => Math.sqrt((ra! ** 2 + dec! ** 2) / 2);

export const KEYS = ['normalized_separation', 'match_probability', 'any_match_probability'] as const;

/** Equal to a unit of the fourth digit, because errors in arcsec are rounded otherwise than those in mas. */
export function assertSame(found: number | null, expected: number | null, about: string): void {
  const isSame = found === expected || Math.abs(found! - expected!) <= 2e-3 * Math.max(Math.abs(expected!), 1e-9);
  assert.ok(isSame && (found === null) === (expected === null), `${about}: ${found} ${expected}`);
}

export async function withMatchedField(
  use: (app: TestApp, field: ReturnType<typeof makeField>, world: World) => Promise<void>,
): Promise<void> {
  await inWorld(async world => {
    const made = makeField();
    await addSources(world, made.sources);
    await world.writer.ingest(
      made.objects.map((object, at) => deliveryOf(object, at, object.errorMas)),
      1_767_225_600_000_000,
    );
    await world.crossmatch({ priorCompleteness: 0.7 });
    const app = new TestApp(join(world.directory, 'data'), { MATCH_PRIOR_COMPLETENESS: '0.7' });
    try {
      await use(await app.ready(), made, world);
    } finally {
      await app.app.close();
    }
  });
}
