/** A data directory and catalogs of their own for tests of the crossmatcher. */

import { join } from 'node:path';
import { REMOTE_DEFAULTS } from '@nearsky/hats';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { type CrossmatchOptions, crossmatchPending } from '../../../src/capabilities/crossmatch/crossmatcher.ts';
import type { CrossmatchSummary } from '../../../src/capabilities/crossmatch/summary.ts';
import { CATALOGS, catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { Pool } from '../../../src/core/pool/pool.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type { Delivery, ProvenanceSet, SkyPosition } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import { type HatsColumn, type HatsOptions, type WrittenPartition, writeHats } from '../../core/catalogs/write_hats.ts';
import { withDirectory } from '../../directory.ts';
import type { CatalogRows } from '../../oracle/crossmatch.ts';

export const PROVENANCE: ProvenanceSet = {
  crossmatch_radius_arcsec: 1,
  catalogs: CATALOGS.map(({ name, release }) => ({ name, release })),
  reliability_cuts: [],
};

/** The threads of all worlds of a process: they keep nothing between tasks, and idle ones do not keep the process. */
export const pool = new Pool({
  threads: 2,
  threadData: { catalogs: { remote: { ...REMOTE_DEFAULTS, pauseMs: 2 }, memoryBytes: 1 << 20 } },
});

export interface WrittenCatalog extends CatalogRows {
  readonly name: string;
  readonly location: string;
  readonly columns: readonly HatsColumn[];
  readonly partitions: readonly WrittenPartition[];
}

export class World {
  readonly directory: string;
  readonly store: Store;
  readonly writer: Writer;

  constructor(directory: string) {
    this.directory = directory;
    this.store = openStore(join(directory, 'data'), 'write');
    this.writer = new Writer(this.store);
  }

  /** Writes a catalog with the schema of its release. Missing coordinates are null. */
  writeCatalog(
    name: string,
    places: readonly { readonly ra: number | null; readonly dec: number | null }[],
    options: Partial<HatsOptions> = {},
    id?: readonly bigint[],
  ): WrittenCatalog {
    const definition = catalogDefinition(name)!;
    const [ra, dec] = [places.map(place => place.ra), places.map(place => place.dec)];
    const columns = catalogColumns(definition, ra, dec, id);
    const location = join(this.directory, name);
    const written = { name, columns, ra: definition.raColumn, dec: definition.decColumn, ...options };
    const partitions = writeHats(location, written);
    const coverageOrder = Math.min(
      options.skymapOrder ?? (options.skymapOrder === null ? 99 : 8),
      definition.footprintOrder,
    );
    return { name, location, columns, partitions, ra, dec, id: columns[0]!.data as ArrayLike<bigint>, coverageOrder };
  }

  async addCatalog(...written: Parameters<World['writeCatalog']>): Promise<WrittenCatalog> {
    const catalog = this.writeCatalog(...written);
    await this.register(catalog);
    return catalog;
  }

  async register({ name, location }: Pick<WrittenCatalog, 'name' | 'location'>): Promise<void> {
    await this.writer.commit({
      kind: 'register_catalog',
      registration: await registerCatalog(catalogDefinition(name)!, location, { addedAtUs: Date.now() * 1000 }),
    });
  }

  /** Stores objects at these positions (null: invalid), ids beyond 2^53 from `firstId` on; their ids. */
  async ingest(positions: readonly (SkyPosition | null)[], firstId = 169_760_231_713_145_019n): Promise<bigint[]> {
    const deliveries = positions.map(
      (position, at): Delivery => ({
        diaObjectId: firstId + BigInt(at),
        position,
        reliability: 0.9,
        eventTimeUs: 1_767_225_600_000_000,
        broker: 'lasair',
      }),
    );
    await this.writer.ingest(deliveries, 1_767_225_600_000_000);
    return deliveries.map(({ diaObjectId }) => diaObjectId);
  }

  crossmatch(options: Partial<CrossmatchOptions> = {}): Promise<CrossmatchSummary> {
    const { store, writer } = this;
    return crossmatchPending({ store, writer, pool, provenance: () => PROVENANCE, ...options });
  }
}

/** Runs with a new world, which is closed and removed afterwards. */
export function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  return withDirectory(async directory => {
    const world = new World(directory);
    try {
      await use(world);
    } finally {
      await world.store.close();
    }
  });
}
