/** A catalog with one source, for tests that replace a catalog or need a column of a certain name. */
import { join } from 'node:path';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { writeHats } from '../../core/catalogs/write_hats.ts';
import { delivery, match, NOW_US, PROVENANCE, searched } from '../../core/http/support.ts';
import type { World } from '../crossmatch/world.ts';

const ID = '7';
/** In the order of the catalog. An object has a key that is an integer first, as after an import. */
const valuesWith = (column: string) => Object.entries({ ra: 10, dec: 0 }).concat([[column, 1]]);

/** Writes the catalog, without registering it. @param column the name of its last column, whose value is 1 */
export async function writeOneSource({ directory }: World, name: string, column: string) {
  const location = join(directory, `${name}_${column}`);
  const payload = valuesWith(column).map(([name, value]) => ({ name, type: 'DOUBLE', data: [value] }) as const);
  const columns = [{ name: 'id', type: 'INT64', data: [BigInt(ID)] }, ...payload] as const;
  writeHats(location, { name, columns, ra: 'ra', dec: 'dec' });
  const catalog = { name, idColumn: 'id', description: {} };
  return await registerCatalog(catalog, location, { addedAtUs: NOW_US });
}

/** Registers the catalog, or replaces it. */
export async function putOneSource(world: World, name: string, column: string): Promise<void> {
  await world.writer.commit({ kind: 'register_catalog', registration: await writeOneSource(world, name, column) });
}

/** Stores an object that matches the source. */
export async function storeMatched({ writer }: World, diaObjectId: bigint, name: string, column: string) {
  await writer.ingest([delivery(diaObjectId)], NOW_US);
  const matches = [match(name, ID, { payload: Object.fromEntries(valuesWith(column)) })];
  await writer.recordCrossmatches([{ diaObjectId, catalogOutcomes: searched(name), matches }], PROVENANCE, NOW_US);
}
