/** The catalog whose ids are texts, written by hats-import, and its objects (test/fixtures/text_ids). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import type { CatalogRegistration } from '../../../src/core/store/catalog_registration.ts';
import type { ProvenanceSet } from '../../../src/core/store/types.ts';
import { PROVENANCE, type World } from './world.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/text_ids', import.meta.url));

/** @param directory `quasars`, or the same ids as another writer stores them */
export const registrationOf = (directory = 'quasars', description = {}): Promise<CatalogRegistration> =>
  registerCatalog({ name: 'quasars', idColumn: 'name', description }, join(fixtures, directory), { addedAtUs: 1 });

/** An object, and by astropy the nearest source within 1 arcsec that has an id; of equally near ones the lowest. */
export interface NamedObject {
  readonly ra: number;
  readonly dec: number;
  /** Undefined if there is none. */
  readonly source: { readonly id: string; readonly separationArcsec: number } | undefined;
}

export const OBJECTS: readonly NamedObject[] = readFileSync(join(fixtures, 'objects.csv'), 'utf8')
  .trim()
  .split(/\r?\n/)
  .slice(1)
  .map(line => {
    const [ra, dec, id, separation] = Array.from(line.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g), ([, cell]) =>
      cell!.startsWith('"') ? cell!.slice(1, -1).replaceAll('""', '"') : cell!,
    );
    const source = id === '' ? undefined : { id: id!, separationArcsec: Number(separation) };
    return { ra: Number(ra), dec: Number(dec), source };
  });

/** Registers the catalog; the provenance of crossmatches with it. */
export async function addQuasars({ writer }: World): Promise<() => ProvenanceSet> {
  await writer.commit({ kind: 'register_catalog', registration: await registrationOf() });
  const catalogs = [...PROVENANCE.catalogs, { name: 'quasars', release: 'quasars' }];
  return () => ({ ...PROVENANCE, catalogs });
}

/** Registers the catalog, and crossmatches its objects; the ids of the objects, parallel to `OBJECTS`. */
export async function crossmatchNames(world: World): Promise<readonly bigint[]> {
  const provenance = await addQuasars(world);
  const ids = await world.ingest(OBJECTS);
  await world.crossmatch({ provenance });
  return ids;
}
