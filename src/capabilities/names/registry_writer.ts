/** Loads and changes the snapshot of the TNS registry, in commits that are small enough for serving threads beside them. */
import { setImmediate as immediate } from 'node:timers/promises';
import { type RegistrySnapshot, readRegistrySnapshot, type Validators } from '../../core/store/registry.ts';
import type { Store } from '../../core/store/store.ts';
import type { TnsRecord } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';

/** Small enough to delay a serving thread on the same core for only some milliseconds at a time. */
const CHANGED_A_COMMIT = 1000;
const REMOVED_A_COMMIT = 5000;

interface PublishDetails {
  /** The epoch of the whole file with which the load began; by default the load's own epoch. */
  readonly fileEpochUs?: number;
  readonly validators?: Validators | null;
  /** The snapshot that the load must replace (null: none); by default any. */
  readonly base?: RegistrySnapshot | null;
}

/** Adds objects to an unpublished load, or replaces those with their objids. */
export async function changeStaged(writer: Writer, load: number, records: readonly TnsRecord[]): Promise<void> {
  for (let from = 0; from < records.length; from += CHANGED_A_COMMIT) {
    const some = records.slice(from, from + CHANGED_A_COMMIT);
    await writer.commit({ kind: 'change_staged_registry', load, records: some });
    await immediate();
  }
}

/**
 * Publishes a load: it replaces the former snapshot in one commit. The objects of the former snapshot are then removed.
 * @throws StoreError, also when a load that began later has been published, or the former snapshot is not `base`
 */
export async function publishLoad(
  writer: Writer,
  load: number,
  epochUs: number,
  { fileEpochUs = epochUs, validators = null, base }: PublishDetails = {},
): Promise<void> {
  await writer.commit({ kind: 'publish_registry', snapshot: { load, epochUs, fileEpochUs, validators }, base });
  await removeLoads(writer, 0, load);
}

/**
 * Removes the objects of former snapshots that remain after a process was killed between publishing the present
 * snapshot and removing them.
 */
export async function tidyRegistry(writer: Writer, { databases }: Store): Promise<void> {
  await removeLoads(writer, 0, readRegistrySnapshot(databases)?.load ?? 0);
}

export const dropLoad = (writer: Writer, load: number) => removeLoads(writer, load, load + 1);

async function removeLoads(writer: Writer, first: number, end: number): Promise<void> {
  const change = { kind: 'remove_registry_loads', first, end, limit: REMOVED_A_COMMIT } as const;
  while ((await writer.commit(change)) > 0) await immediate();
}
