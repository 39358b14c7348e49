/** The task `registry`, which builds an index of the positions of the TNS registry. */
import { buildArena } from '@nearsky/sky-index';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { type RegistrySnapshot, readRegistry, readRegistrySnapshot } from '../../core/store/registry.ts';
import { currentStore } from '../../core/store/thread_store.ts';

/** Builds an arena of the published TNS registry; undefined if there is none. Needs a pool with a data directory. */
export interface RegistryTask extends Task<RegistryIndex | undefined> {
  readonly module: 'src/capabilities/names/registry_index';
  readonly kind: 'registry';
}

interface RegistryIndex {
  readonly snapshot: RegistrySnapshot;
  /** The arena; its ids are objids. */
  readonly arena: SharedArrayBuffer;
}

export const tasks: Tasks<RegistryTask> = { registry: runRegistry };

function runRegistry(): RegistryIndex | undefined {
  const store = currentStore();
  const snapshot = readRegistrySnapshot(store.databases);
  if (!snapshot) return undefined;
  const ra: number[] = [];
  const dec: number[] = [];
  const objid: bigint[] = [];
  for (const record of readRegistry(store.databases)) {
    ra.push(record.ra);
    dec.push(record.dec);
    objid.push(BigInt(record.objid));
  }
  const points = { ra: Float64Array.from(ra), dec: Float64Array.from(dec), id: BigInt64Array.from(objid) };
  return { snapshot, arena: buildArena(points) };
}
