/**
 * The process that makes the tables of a state: it exports the archive in the HATS layout, and loads the rows into a
 * database. Its memory is not that of queries, and is free when it ends.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pixelOfPath } from '@nearsky/hats/layout';
import { messageOf } from '../../core/base/error_text.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import { openStore } from '../../core/store/store.ts';
import { exportHats } from '../hats/hats_exporter.ts';
import { PROGRAM } from '../hats/partition_writer.ts';
import { Edition } from './edition.ts';
import { originOf } from './origin.ts';
import type { Exported } from './tables.ts';

export interface MakeRequest {
  readonly dataDir: string;
  /** The directory to create, for the export and the database. The engine removes it. */
  readonly directory: string;
  /** The journal entry after which the tables have the objects; undefined for the last one. */
  readonly at?: number;
  /** The database to create in this directory. */
  readonly file: string;
  readonly number: number;
  /** See `NewEdition`. */
  readonly maxIndexed: number;
  readonly memoryMib: number;
  readonly threads: number;
}

/** The last message says whether the tables were made. */
export type MakeMessage = { readonly progress: number } | { readonly isMade: true } | { readonly error: string };

export function runProcess(): void {
  // Without the engine the tables are useless. `process.exit` would wait for the end of a statement, up to minutes.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  const say = (message: MakeMessage, sent = () => {}) => process.send!(message, undefined, undefined, sent);
  process.once('message', (request: MakeRequest) => {
    let shown = -1;
    const onProgress = (progress: number) => {
      if (progress > shown) say({ progress });
      shown = progress;
    };
    makeTables(request, onProgress).then(
      () => say({ isMade: true }, process.exit),
      error => say({ error: messageOf(error) }, process.exit),
    );
  });
}

/** @param onProgress is called with the share that is done, percent */
async function makeTables(request: MakeRequest, onProgress: (percent: number) => void): Promise<void> {
  const { dataDir, directory, at, file, number, maxIndexed, memoryMib, threads } = request;
  const target = join(directory, 'export');
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const store = openStore(dataDir, 'read');
  try {
    const origins = new RegisteredCatalogs(originOf);
    const exported = async () => {
      const [origin, nowMs] = [origins.of(store), Date.now()];
      const counts = await exportHats({
        dataDir,
        store,
        target,
        builder: PROGRAM,
        withoutMargins: true,
        kept: 'all',
        ...(at !== undefined && { at }),
        onProgress: (rows, total) => total && onProgress(Math.floor((100 * rows) / total)),
      });
      store.resetRead();
      return { origin, nowMs, ...counts };
    };
    let made = await exported();
    // The export reads the catalogs itself, so it runs again if they have changed meanwhile.
    while (origins.of(store) !== made.origin) {
      rmSync(target, { recursive: true });
      made = await exported();
    }
    const { origin, nowMs, sequence, objects } = made;
    const mark = store.markOf(sequence);
    const asOfMs = at === undefined ? nowMs : Math.floor(store.at(at).latestIngestUs() / 1000);
    const instance = await DuckDBInstance.create(':memory:', {
      threads: `${threads}`,
      memory_limit: `${memoryMib}MiB`,
      temp_directory: '',
      // Keeping the order of millions of rows takes more memory than there is.
      preserve_insertion_order: 'false',
    });
    const connection = await instance.connect();
    const files = { objects: filesOf(target, 'objects'), matches: filesOf(target, 'matches') };
    const contents = { ...origin, mark, sequence, asOfMs, objects, changed: 0 };
    await Edition.make({ connection, file, number, maxIndexed }, files, contents);
    connection.closeSync();
    instance.closeSync();
  } finally {
    await store.close();
  }
}

/** The files of a relation in an export, in the order of their pixels. Files without a pixel are the first. */
function filesOf(path: string, exported: Exported): string[] {
  const dataset = join(path, exported, exported, 'dataset');
  const names = readdirSync(dataset, { recursive: true, encoding: 'utf8' });
  const files = names.filter(name => name.endsWith('.parquet') || name === '_common_metadata');
  const sorted = files.sort((a, b) => firstPixel(a) - firstPixel(b)).map(name => join(dataset, name));
  const aside = join(path, `${exported}_without_position.parquet`);
  return existsSync(aside) ? [aside, ...sorted] : sorted;
}

/** The position of a file's pixel, in units of HEALPix base pixels; -1 for a file that is not a partition. */
function firstPixel(name: string): number {
  const pixel = pixelOfPath(name);
  return pixel ? pixel.ipix / 4 ** pixel.order : -1;
}
