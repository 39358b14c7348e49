/** Catalogs whose values are known, for tests of reports. */
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import type { HatsOptions } from '../../core/catalogs/write_hats.ts';
import type { World, WrittenCatalog } from '../crossmatch/world.ts';

export interface Source {
  readonly ra: number;
  readonly dec: number;
  readonly id: bigint;
  /** Payload by column, in any case; all other columns are null. */
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Writes and registers a catalog with these sources. */
export async function addSources(
  world: World,
  name: string,
  sources: readonly Source[],
  options: Partial<HatsOptions> = {},
): Promise<WrittenCatalog> {
  const definition = catalogDefinition(name)!;
  const [idColumn, ra, dec, ...payload] = catalogColumns(
    definition,
    sources.map(source => source.ra),
    sources.map(source => source.dec),
    sources.map(source => source.id),
  );
  const columns = [
    idColumn!,
    ra!,
    dec!,
    ...payload.map(column => ({
      ...column,
      data: sources.map(source => source.payload[column.name.toLowerCase()] ?? null),
    })),
  ];
  return await world.addCatalog(
    name,
    sources,
    { columns, ...options },
    sources.map(({ id }) => id),
  );
}
