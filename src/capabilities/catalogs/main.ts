/** Counts the files of local catalogs by the state of their stored positions, from time to time. */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { whyUnusable } from '@nearsky/hats/positions';
import { messageOf } from '../../core/base/error_text.ts';
import { repeat } from '../../core/base/timeout.ts';
import type { PartOf } from '../../core/host.ts';
import type { Exposition } from '../../core/metrics/exposition.ts';
import { type CatalogRegistration, readCatalogs } from '../../core/store/catalog_registration.ts';
import { openStore } from '../../core/store/store.ts';
import { positionFilesOf } from './stored_positions.ts';

const EVERY_MS = 600_000;
/** Files between two pauses for other work of the thread. */
const FILES_AT_ONCE = 20;
/** Positions that should be usable. Missing ones were not wanted, or `catalog add` said that they could not be stored. */
const FAULTS = ['stale', 'damaged', 'unreadable'] as const;
const STATES = ['usable', 'missing', ...FAULTS] as const;

type State = (typeof STATES)[number];
type FilesByState = Readonly<Record<State, number>>;

// A search does without positions that it cannot use, so nobody would notice.
export const part: PartOf = ({ config: { NEARSKY_DATA }, log }) => {
  const stop = new AbortController();
  const found = new Map<string, FilesByState>();
  const look = async () => {
    await using store = openStore(NEARSKY_DATA, 'read');
    const local = readCatalogs(store.databases).filter(each =>
      positionFilesOf(NEARSKY_DATA, each.location, each.columns),
    );
    for (const name of found.keys()) if (!local.some(each => each.name === name)) found.delete(name);
    for (const catalog of local) {
      const files = await statesOf(NEARSKY_DATA, catalog, stop.signal);
      const before = found.get(catalog.name);
      found.set(catalog.name, files);
      if (FAULTS.some(state => files[state] > (before?.[state] ?? 0)))
        log('positions_unusable', { catalog: catalog.name, ...files });
    }
  };
  return {
    start() {
      void repeat(stop.signal, EVERY_MS, look, error => log('positions_not_watched', { error: messageOf(error) }));
    },
    addMetrics: exposition => addFiles(exposition, found),
    close: () => stop.abort(),
  };
};

export function addFiles(exposition: Exposition, found: ReadonlyMap<string, FilesByState>): void {
  exposition.gauge(
    'nearsky_catalog_position_files',
    'Files of a local catalog, by the state of their stored positions; counted every 10 minutes.',
    [...found].flatMap(([catalog, files]) => STATES.map(state => [{ catalog, state }, files[state]] as const)),
  );
}

async function statesOf(
  dataDir: string,
  { location, columns, partitions }: CatalogRegistration,
  ends: AbortSignal,
): Promise<FilesByState> {
  const positions = positionFilesOf(dataDir, location, columns)!;
  const files = { usable: 0, missing: 0, stale: 0, damaged: 0, unreadable: 0 };
  let since = 0;
  for (const name of partitions.flatMap(partition => partition.files)) {
    if (++since % FILES_AT_ONCE === 0) await nextTurn();
    ends.throwIfAborted();
    files[whyUnusable(positions.pathOf(name), join(location, name)) ?? 'usable']++;
  }
  return files;
}
