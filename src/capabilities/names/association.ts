/** Finds the TNS registry's object at an object's position. The result is recorded once, with the crossmatch. */

import { Arena, NO_MATCH, nearestJoin, SkyIndex } from '@nearsky/sky-index';
import { noteGarbage } from '../../core/base/shared_memory.ts';
import { nowUs } from '../../core/base/times.ts';
import type { Config } from '../../core/config/config.ts';
import { isSnapshotCurrent } from '../../core/contract/tns_names.ts';
import type { Pool } from '../../core/pool/pool.ts';
import { findByObjid, isSame, type RegistrySnapshot, readRegistrySnapshot } from '../../core/store/registry.ts';
import type { Store } from '../../core/store/store.ts';
import type { SkyPosition, TnsAssociation } from '../../core/store/types.ts';
import type { RegistryTask } from './registry_index.ts';

export function associatorOf(store: Store, pool: Pool, config: Config): Associator {
  const { TNS_MATCH_RADIUS_ARCSEC: radiusArcsec, TNS_SNAPSHOT_MAX_AGE_SECONDS: maxAgeSeconds } = config;
  return new Associator({ store, pool, radiusArcsec, maxAgeSeconds });
}

interface AssociatorOptions {
  readonly store: Store;
  /** A pool with the same data directory. It builds the index of each snapshot; the index is then cached. */
  readonly pool: Pool;
  /** Inclusive. */
  readonly radiusArcsec: number;
  /** The maximum age of a snapshot, seconds, inclusive. */
  readonly maxAgeSeconds: number;
}

/** The fields of an association if the registry has no object nearby, or was not searched. */
export const NO_TRANSIENT = {
  objid: null,
  name: null,
  namePrefix: null,
  classification: null,
  redshift: null,
  separationArcsec: null,
} as const;
const NOT_CHECKED: TnsAssociation = { checked: false, snapshotEpochUs: null, ...NO_TRANSIENT };

export class Associator {
  readonly #options: AssociatorOptions;
  #index: { readonly snapshot: RegistrySnapshot; readonly sky: SkyIndex; readonly bytes: number } | undefined;

  constructor(options: AssociatorOptions) {
    this.#options = options;
  }

  /**
   * Associates each position with the nearest registry object within the radius; of several at the same separation,
   * with the one that has the lowest objid. `checked` is false if the position is missing, or the snapshot is missing
   * or too old. All objects without a registry object nearby share one association.
   * @throws PoolError, StoreError
   */
  async associate(positions: readonly (SkyPosition | null)[]): Promise<TnsAssociation[]> {
    const { store, pool, maxAgeSeconds } = this.#options;
    for (;;) {
      store.resetRead();
      const snapshot = readRegistrySnapshot(store.databases);
      if (!snapshot || !isSnapshotCurrent(snapshot.epochUs, nowUs(), maxAgeSeconds)) {
        return positions.map(() => NOT_CHECKED);
      }
      // Nothing else runs between this read of the snapshot and the read of the last object, so the index and the
      // objects belong to the same snapshot.
      if (this.#index && isSame(snapshot, this.#index.snapshot)) {
        return this.#nearest(positions, snapshot.epochUs, this.#index.sky);
      }
      const task: RegistryTask = { module: 'src/capabilities/names/registry_index', kind: 'registry' };
      const built = await pool.run(task);
      if (this.#index) noteGarbage(this.#index.bytes);
      this.#index = built && {
        snapshot: built.snapshot,
        sky: new SkyIndex([new Arena(built.arena)]),
        bytes: built.arena.byteLength,
      };
    }
  }

  #nearest(positions: readonly (SkyPosition | null)[], snapshotEpochUs: number, sky: SkyIndex): TnsAssociation[] {
    const places = positions.filter(position => position !== null);
    const ra = Float64Array.from(places, place => place.ra);
    const dec = Float64Array.from(places, place => place.dec);
    const nearest = nearestJoin(sky, ra, dec, this.#options.radiusArcsec);
    const nothing: TnsAssociation = { checked: true, snapshotEpochUs, ...NO_TRANSIENT };
    let place = 0;
    return positions.map(position => {
      if (!position) return NOT_CHECKED;
      const at = place++;
      if (nearest.arena[at] === NO_MATCH) return nothing;
      const objid = Number(sky.arenas[0]!.id(nearest.row[at]!));
      const { name, namePrefix, classification, redshift } = findByObjid(this.#options.store.databases, objid)!;
      const separationArcsec = nearest.separationArcsec[at]!;
      return { checked: true, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec };
    });
  }
}
