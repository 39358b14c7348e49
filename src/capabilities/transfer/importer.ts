/** Imports the lines of an export into the store, in batches, whatever their order. */

import { nowUs } from '../../core/base/times.ts';
import type { ImportItem, ImportOutcome } from '../../core/store/import.ts';
import type { TnsRecord } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';
import { ahead } from '../ingest/ahead.ts';
import {
  type Line,
  type LineBlock,
  MAX_LINE_BYTES,
  openByteStream,
  readBlocks,
  STORED_BEFORE,
  splitLines,
} from '../ingest/lines.ts';
import { type RejectLog, rejectOf } from '../ingest/rejects.ts';
import { EarlyLines } from './early_lines.ts';
import { LineError } from './fields.ts';
import { LinePreparer, type Lines } from './line_preparer.ts';
import { LINE_TYPES, type LineType, type ParsedLine, parseLine } from './parse.ts';
import type { Prepared } from './pieces.ts';
import { RegistryImport } from './registry_import.ts';

/** Counts of the lines of one type, by outcome. */
interface TypeCounts {
  imported: number;
  /** Already stored. */
  unchanged: number;
}

/** At the end of the import, `read` is the sum of the other counts. Blank lines are not counted. */
export interface ImportCounts {
  read: number;
  readonly types: Readonly<Record<LineType, TypeCounts>>;
  rejected: number;
  blank: number;
  /** Lines, imported or not, with fields that the import does not read. */
  withUnreadFields: number;
}

/** A line that was not imported, and the reason. */
export interface Rejection {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
}

export interface ImporterOptions {
  readonly dataDir: string;
  readonly writer: Writer;
  readonly rejects: RejectLog;
  readonly onReject: (rejection: Rejection) => void;
  readonly onBatch: () => void;
  /** Called after each read, with the number of bytes read. */
  readonly onRead?: (bytes: number) => void;
  /**
   * The number of bytes that this thread prepares before it starts other threads. By default, as many as it can import
   * in the time that the threads need to start.
   */
  readonly inlineBytes?: number;
}

/**
 * The approximate number of lines per commit. A commit only ends between two objects, so that all lines of an object
 * become visible at once.
 */
const BATCH_LINES = 10_000;
/** The maximum number of lines per commit, even in the middle of an object. */
const MAX_BATCH_LINES = 4 * BATCH_LINES;

/** A parsed line that waits for a commit. */
interface Waiting<T> {
  readonly file: string;
  readonly line: Line;
  readonly item: T;
}

/** An object that a thread has prepared, and its lines. */
class WaitingObject {
  readonly prepared: Prepared;
  readonly #file: string;
  readonly #lines: LineBlock;
  #items: Waiting<ImportItem>[] | undefined;

  constructor(file: string, lines: LineBlock, prepared: Prepared) {
    this.prepared = prepared;
    this.#file = file;
    this.#lines = lines;
  }

  get lineCount(): number {
    const { crossmatch_record, match, tns_association } = this.prepared.counts;
    return 1 + crossmatch_record + match + tns_association;
  }

  /** The lines of the object, one by one. The thread found no fault in them. */
  get items(): readonly Waiting<ImportItem>[] {
    this.#items ??= [...splitLines(this.#lines, MAX_LINE_BYTES)]
      .filter(({ text }) => !isBlank(text))
      .map(line => ({ file: this.#file, line, item: parseLine(line.text) as ImportItem }));
    return this.#items;
  }
}

const isBlank = (text: string) => text.trim() === '';

export class Importer {
  readonly counts: ImportCounts;
  readonly #options: ImporterOptions;
  readonly #early: EarlyLines;
  readonly #registry: RegistryImport;
  readonly #preparer: LinePreparer;
  #waiting: (Waiting<ImportItem> | WaitingObject)[] = [];
  /** The number of waiting lines. The last of them belongs to the object `#lastId`. */
  #waitingLines = 0;
  #lastId: bigint | undefined;
  #records: Waiting<TnsRecord>[] = [];
  #firstRecord: Waiting<TnsRecord> | undefined;
  #isComplete = true;
  /** Whether the line of a still unknown object may follow later. */
  #mayBeEarly = true;

  constructor(options: ImporterOptions) {
    const types = Object.fromEntries(LINE_TYPES.map(type => [type, { imported: 0, unchanged: 0 }]));
    this.counts = { read: 0, types: types as ImportCounts['types'], rejected: 0, blank: 0, withUnreadFields: 0 };
    this.#options = options;
    this.#early = new EarlyLines(options.dataDir);
    this.#registry = new RegistryImport(options.writer);
    this.#preparer = new LinePreparer(options.dataDir, options.inlineBytes);
  }

  /**
   * Reads a file, or standard input (`-`), to its end. On return, and also if reading fails, the lines that were read
   * are durable. The exceptions are the registry, and lines that came before the line of their object: these wait for
   * `finish`.
   * @throws StoreError; Error if the file cannot be read
   */
  async importFile(file: string): Promise<void> {
    const stream = openByteStream(file, this.#options.onRead);
    try {
      const blocks = ahead(
        readBlocks(stream, file, STORED_BEFORE),
        block => this.#preparer.prepare(block),
        LinePreparer.PARALLEL,
      );
      for await (const pieces of blocks) for (const piece of pieces) await this.#addPiece(file, piece);
    } catch (error) {
      this.#isComplete = false;
      throw error;
    } finally {
      stream.destroy();
      await this.#flush();
    }
  }

  /**
   * Imports the lines that had to wait. Publishes the registry if every file was read to its end. Call it once, after
   * the last file.
   * @throws StoreError
   */
  async finish(): Promise<void> {
    this.#mayBeEarly = false;
    for (const { file, line } of this.#early.read()) await this.#add(file, line);
    await this.#flush();
    await this.#finishRegistry();
    this.#options.rejects.flush();
  }

  /** Call it before the store is closed. */
  async close(): Promise<void> {
    this.#early.close();
    await this.#preparer.close();
  }

  async #addPiece(file: string, { lines, prepared, blankLines = 0 }: Lines): Promise<void> {
    this.counts.blank += blankLines;
    if (prepared) {
      const object = new WaitingObject(file, lines, prepared);
      this.counts.read += object.lineCount;
      await this.#wait(object, prepared.diaObjectId, object.lineCount);
      return;
    }
    for (const line of splitLines(lines, MAX_LINE_BYTES)) {
      if (!line.problem && isBlank(line.text)) {
        this.counts.blank++;
        continue;
      }
      this.counts.read++;
      await this.#add(file, line);
    }
  }

  async #add(file: string, line: Line): Promise<void> {
    let parsed: ParsedLine;
    try {
      if (line.problem) throw new LineError(line.problem);
      parsed = parseLine(line.text, () => {
        // Early lines are read a second time here.
        if (this.#mayBeEarly) this.counts.withUnreadFields++;
      });
    } catch (error) {
      if (!(error instanceof LineError)) throw error;
      this.#reject(file, line, error.message);
      return;
    }
    if (parsed.kind === 'tns_snapshot') {
      if (parsed.epochUs > nowUs()) {
        // Until then, such a registry would not be refreshed.
        this.#reject(file, line, 'epoch must not be in the future: check the clock of this machine');
        return;
      }
      const outcome = this.#registry.setEpoch(parsed.epochUs);
      if (outcome === 'conflict') this.#reject(file, line, 'an earlier tns_snapshot line has another epoch');
      else this.#count('tns_snapshot', outcome === 'added' ? 'imported' : 'unchanged');
    } else if (parsed.kind === 'tns_object') {
      this.#records.push({ file, line, item: parsed.record });
      if (this.#records.length >= BATCH_LINES) await this.#flush();
    } else {
      await this.#wait({ file, line, item: parsed }, parsed.diaObjectId, 1);
    }
  }

  /** Adds lines of an object to the waiting lines. Commits the waiting lines first if there are enough of them. */
  async #wait(entry: Waiting<ImportItem> | WaitingObject, diaObjectId: bigint, lines: number): Promise<void> {
    const isFull = this.#waitingLines >= BATCH_LINES && this.#lastId !== diaObjectId;
    if (isFull || this.#waitingLines >= MAX_BATCH_LINES) await this.#flush();
    this.#waiting.push(entry);
    this.#waitingLines += lines;
    this.#lastId = diaObjectId;
  }

  /** Commits the waiting lines, and then counts them. */
  async #flush(): Promise<void> {
    await this.#flushItems();
    await this.#flushRecords();
    this.#options.rejects.flush();
    this.#options.onBatch();
  }

  async #flushItems(): Promise<void> {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#waitingLines = 0;
    const outcomes = await this.#options.writer.import(
      waiting.map(entry => {
        if (!(entry instanceof WaitingObject)) return entry.item;
        return { kind: 'prepared', ...entry.prepared, items: () => entry.items.map(({ item }) => item) };
      }),
    );
    for (const [i, outcome] of outcomes.entries()) {
      const entry = waiting[i]!;
      if (!(entry instanceof WaitingObject)) this.#settle(entry, outcome as ImportOutcome);
      else if (outcome === 'imported' || outcome === 'unchanged') this.#countObject(entry.prepared, outcome);
      else for (const [k, each] of (outcome as ImportOutcome[]).entries()) this.#settle(entry.items[k]!, each);
    }
  }

  #settle({ file, line, item }: Waiting<ImportItem>, outcome: ImportOutcome): void {
    if (typeof outcome === 'object') this.#reject(file, line, outcome.conflict);
    else if (outcome !== 'no_object') this.#count(item.kind, outcome);
    else if (this.#mayBeEarly) this.#early.add(file, line);
    else this.#reject(file, line, `object ${item.diaObjectId} is not stored, and this import has no line for it`);
  }

  #countObject({ counts }: Prepared, outcome: keyof TypeCounts): void {
    this.#count('object', outcome);
    for (const [type, lines] of Object.entries(counts) as [keyof typeof counts, number][])
      this.counts.types[type][outcome] += lines;
  }

  async #flushRecords(): Promise<void> {
    const waiting = this.#records;
    if (waiting.length === 0) return;
    this.#records = [];
    this.#firstRecord ??= waiting[0];
    const outcomes = await this.#registry.stage(waiting.map(({ item }) => item));
    for (const [i, outcome] of outcomes.entries()) {
      const { file, line, item } = waiting[i]!;
      if (outcome === 'conflict')
        this.#reject(file, line, `an earlier tns_object line has the same objid ${item.objid}`);
      else this.#count('tns_object', outcome === 'added' ? 'imported' : 'unchanged');
    }
  }

  /** The registry is replaced completely or not at all. */
  async #finishRegistry(): Promise<void> {
    const first = this.#firstRecord;
    const isMissingEpoch = first !== undefined && this.#registry.epochUs === undefined;
    if (this.#isComplete && !isMissingEpoch) {
      if (this.#registry.epochUs !== undefined) await this.#registry.publish();
      return;
    }
    await this.#registry.drop();
    const { tns_object: records, tns_snapshot: snapshots } = this.counts.types;
    this.counts.rejected += records.imported + records.unchanged + snapshots.imported + snapshots.unchanged;
    Object.assign(records, { imported: 0, unchanged: 0 });
    Object.assign(snapshots, { imported: 0, unchanged: 0 });
    if (!first) return;
    const why = isMissingEpoch ? 'there is no tns_snapshot line' : 'the input was not read to its end';
    this.#tell(first.file, first.line, `no tns_object line is imported, because ${why}`);
  }

  #count(type: LineType, outcome: keyof TypeCounts): void {
    this.counts.types[type][outcome]++;
  }

  #reject(file: string, line: Line, reason: string): void {
    this.counts.rejected++;
    this.#tell(file, line, reason);
  }

  #tell(file: string, line: Line, reason: string): void {
    this.#options.rejects.add(rejectOf({ file, line: line.number }, reason, line.text));
    this.#options.onReject({ file, line: line.number, reason });
  }
}
