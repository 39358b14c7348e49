/** A catalog of which it is known what it says of its sources. */
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import type { World } from './world.ts';

/** The values of EXT_MASH, and what they mean (Bechtol et al. 2025): a star up to 1, a galaxy from 3. */
const EXT_MASH = [
  [0n, 'star'],
  [1n, 'star'],
  [2n, 'unclear'],
  [3n, 'galaxy'],
  [4n, 'galaxy'],
  [-9n, 'unclear'],
  [null, 'unclear'],
] as const;

/** Registers DES with some sources. */
export async function addJudged(world: World) {
  const sources = Array.from({ length: 50 }, (_, i) => {
    const [extMash, verdict] = EXT_MASH[i % EXT_MASH.length]!;
    return { ra: 30 + i / 500, dec: -20, id: BigInt(i + 1), extMash, verdict };
  });
  const [ra, dec, ids] = [sources.map(each => each.ra), sources.map(each => each.dec), sources.map(each => each.id)];
  const columns = catalogColumns(catalogDefinition('des_y6_gold')!, ra, dec, ids).map(column =>
    column.name === 'EXT_MASH' ? { ...column, data: sources.map(({ extMash }) => extMash) } : column,
  );
  await world.addCatalog('des_y6_gold', sources, { columns, rowGroupSize: 10 }, ids);
  return sources;
}
