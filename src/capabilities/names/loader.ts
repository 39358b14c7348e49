/**
 * Reads public TNS files: a whole file into the store, next to the published registry; a file of changes into memory.
 */

import type { TnsRecord } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';
import { type RejectLog, rejectOf } from '../ingest/rejects.ts';
import { RegistryError, type TimeSpan } from './registry_file.ts';
import { dropLoad } from './registry_writer.ts';
import { type BadRow, type RowBatch, readPublicObjects } from './rows.ts';

/** Far more than the number of changes in an hour. */
const MAX_CHANGES = 1_000_000;

/** Counts of the rows of all files that were read; `read` is the sum of the other counts. */
export interface RowCounts {
  read: number;
  accepted: number;
  rejected: number;
  readonly reasons: Record<string, number>;
  /** The number of faults, by kind, that were ignored in and between accepted rows. */
  readonly notes: Record<string, number>;
}

interface LoaderOptions {
  readonly writer: Writer;
  readonly rejects: RejectLog;
  /** Called after each batch of rows. */
  readonly onBatch: (counts: RowCounts) => void;
}

/** A complete load that is not published yet. */
export interface StagedLoad {
  readonly load: number;
  readonly epochUs: number;
  readonly objects: number;
}

export class RegistryLoader {
  readonly counts: RowCounts = { read: 0, accepted: 0, rejected: 0, reasons: {}, notes: {} };
  readonly #options: LoaderOptions;

  constructor(options: LoaderOptions) {
    this.#options = options;
  }

  /**
   * Stages a whole file as a new load. If several rows have the same objid, only the first of them is used.
   * @param name the file's name in messages and rejects
   * @param epochOf returns the file's time from its first line; if it throws, the load ends before any row is read
   * @throws RegistryError, StoreError; the load is then removed completely
   */
  async stage(
    csv: AsyncIterable<Buffer>,
    name: string,
    epochOf: (span: TimeSpan | undefined) => number,
  ): Promise<StagedLoad> {
    const { writer } = this.#options;
    const { span, batches } = await readPublicObjects(csv, name);
    const epochUs = epochOf(span);
    const load = await writer.commit({ kind: 'begin_registry' });
    try {
      let objects = 0;
      for await (const { records, bad, notes } of batches) {
        const outcomes = await writer.commit({
          kind: 'stage_registry',
          load,
          records: records.map(({ record }) => record),
        });
        const twice = records.filter((_, i) => outcomes[i] === 'conflict').map(repeated);
        objects += outcomes.filter(outcome => outcome === 'added').length;
        this.#tally(name, records.length - twice.length, [...bad, ...twice], notes);
      }
      if (objects === 0)
        throw new RegistryError(
          `Cannot load ${name} because it has no row with a registry object: choose another file`,
        );
      return { load, epochUs, objects };
    } catch (error) {
      await dropLoad(writer, load);
      throw error;
    }
  }

  /**
   * Reads a file of changes.
   * @param name the file's name in messages and rejects
   * @throws RegistryError
   */
  async readChanges(
    csv: AsyncIterable<Buffer>,
    name: string,
  ): Promise<{ span: TimeSpan | undefined; records: TnsRecord[] }> {
    const { span, batches } = await readPublicObjects(csv, name);
    const changes: TnsRecord[] = [];
    for await (const { records, bad, notes } of batches) {
      for (const { record } of records) changes.push(record);
      if (changes.length > MAX_CHANGES)
        throw new RegistryError(`Cannot use ${name} because it has more than ${MAX_CHANGES} rows`);
      this.#tally(name, records.length, bad, notes);
    }
    return { span, records: changes };
  }

  #tally(file: string, accepted: number, rejected: readonly BadRow[], notes: RowBatch['notes']): void {
    const { counts } = this;
    const { rejects, onBatch } = this.#options;
    counts.read += accepted + rejected.length;
    counts.accepted += accepted;
    counts.rejected += rejected.length;
    for (const { line, reason, text } of rejected) {
      counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1;
      rejects.add(rejectOf({ file, line }, reason, text));
    }
    for (const [what, times] of Object.entries(notes)) counts.notes[what] = (counts.notes[what] ?? 0) + times;
    rejects.flush();
    onBatch(counts);
  }
}

function repeated({ line, record }: { readonly line: number; readonly record: TnsRecord }): BadRow {
  return { line, reason: 'an earlier row has the same objid', text: JSON.stringify(record) };
}
