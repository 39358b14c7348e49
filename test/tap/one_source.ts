/** A catalog with one source, for tests that replace a catalog or need a column of a certain name. */
import { join } from 'node:path';
import { registerCatalog } from '../../src/catalogs/register.ts';
import { writeHats } from '../catalogs/write_hats.ts';
import type { World } from '../crossmatch/world.ts';
import { delivery, match, NOW_US, PROVENANCE, searched } from '../http/support.ts';

const ID = '7';
const payloadWith = (column: string) => ({ [column]: 1, ra: 10, dec: 0 });

/** Registers the catalog, or replaces it. @param column the name of a column, whose value is 1 */
export async function putOneSource({ directory, writer }: World, name: string, column: string): Promise<void> {
  const location = join(directory, `${name}_${column}`);
  const payload = Object.entries(payloadWith(column)).map(
    ([key, value]) => ({ name: key, type: 'DOUBLE', data: [value] }) as const,
  );
  const columns = [{ name: 'id', type: 'INT64', data: [BigInt(ID)] }, ...payload] as const;
  writeHats(location, { name, columns, ra: 'ra', dec: 'dec' });
  const catalog = { name, idColumn: 'id', description: {} };
  await writer.putCatalog(await registerCatalog(catalog, location, { addedAtUs: NOW_US }));
}

/** Stores an object that matches the source. */
export async function storeMatched({ writer }: World, diaObjectId: bigint, name: string, column: string) {
  await writer.ingest([delivery(diaObjectId)], NOW_US);
  const matches = [match(name, ID, { payload: payloadWith(column) })];
  await writer.recordCrossmatches([{ diaObjectId, catalogOutcomes: searched(name), matches }], PROVENANCE, NOW_US);
}
