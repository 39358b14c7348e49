/** The task `listReport`: reports on a list of any length, in a thread that has the index. Memory is bounded. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { beginFits, type TableWriter, tableFormat } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import { openGeneration, pixel24, type SkyIndex } from '@nearsky/sky-index';
import { Clock, type InSteps, type Past, type QueryContext } from '../../core/answers/context.ts';
import { beginState, continueState, stateSteps } from '../../core/answers/history.ts';
import { SharedFragments } from '../../core/answers/shared_fragments.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { collectWhenQuiet } from '../../core/base/shared_memory.ts';
import type { Config } from '../../core/config/config.ts';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import type { MatchFormat } from '../../core/contract/formats.ts';
import type { PublishedGeneration } from '../../core/generations/tasks.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import type { StoredObjects } from '../../core/store/objects_at.ts';
import { answerSettings } from '../../core/store/provenance.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import { AnswerFile, type TableOutput } from '../jobs/table_task.ts';
import type { ListedInput } from './list_task.ts';
import { inputOf } from './listed_input.ts';
import { type SampleOptions, stateOfReport } from './options.ts';
import { isReport, type ReportFormat, writeReport } from './report_formats.ts';
import { type Resolved, resolve, SAMPLE_QUERY, type SampleQuery } from './resolve.ts';
import type { SampleRow } from './rows.ts';
import { sampleTable } from './sample_table.ts';
import { registered, reportHead, reportRows, reportTail } from './sample_task.ts';
import { Spill } from './spill.ts';
import { Summary } from './summary.ts';
import type { WholeReport } from './whole_report.ts';

export type ListFormat = 'json' | MatchFormat | ReportFormat;

/** What a list is asked for, besides its table. */
export interface ListRequest extends SampleOptions {
  readonly format: ListFormat;
  /** The radius for the objects of positions and names; undefined for the defaults. */
  readonly objectRadiusArcsec: number | undefined;
}

export interface ListReportTask extends Task<ListReported>, ListRequest, TableOutput {
  readonly module: 'src/capabilities/sample/list_report';
  readonly kind: 'listReport';
  /** The file of inputs: see `ListTask`. */
  readonly inputs: string;
  readonly rows: number;
  readonly generation: PublishedGeneration;
  readonly config: Config;
  /** Three numbers: rows that are read, rows of the output, 1 to end the task. */
  readonly progress: Int32Array;
}

export interface ListReported {
  readonly rows: number;
  readonly bytes: number;
  readonly problems: readonly string[];
}

/** Inputs resolved between two checks whether the report was stopped. */
const CHUNK = 2000;
/** Positions searched in the catalogs at once. Each batch opens the catalogs' files there again. */
const POSITIONS = 20_000;
const PART_BYTES = 1 << 20;

export const tasks: Tasks<ListReportTask> = { listReport: runListReport };

async function runListReport(task: ListReportTask): Promise<ListReported> {
  collectWhenQuiet();
  const { config, rows: count, output } = task;
  const store = currentStore();
  const { all, opened } = registered.of(store);
  const catalogs = all.all.filter(({ name }) => task.catalogs.includes(name));
  const found = new Spill(`${output}.found`, count);
  const written = new Spill(`${output}.rows`, count);
  const problems: string[] = [];
  const checkEnd = () => {
    if (task.progress[2] !== 0) throw new Unavailable('the report was ended');
  };
  try {
    const settings = answerSettings(config, all);
    const context = contextOf(task, new SharedFragments(settings));
    const places = new Float64Array(count);
    let at = 0;
    const query: SampleQuery = {
      kind: SAMPLE_QUERY,
      inputs: [],
      found: [],
      state: { at: undefined, isRequired: false },
    };
    beginState(query, context);
    const before = stateSteps(query, context);
    if (before) finish(before);
    for await (const line of createInterface({ input: createReadStream(task.inputs) })) {
      if (at % CHUNK === 0) {
        checkEnd();
        store.resetRead();
        continueState(context);
      }
      const input = inputOf(JSON.parse(line) as ListedInput, at, task, config);
      const resolved = finish(resolve(input, context));
      places[at] = resolved.position ? pixel24(resolved.position.ra, resolved.position.dec) : -1;
      found.set(at++, JSON.stringify(resolved));
    }
    const summary = new Summary(catalogs, task.radiusArcsec);
    // In the order of the sky, each file of a catalog is read for few chunks.
    const order = Uint32Array.from(places.keys()).sort((a, b) => places[a]! - places[b]! || a - b);
    for (let from = 0; from < count; from += POSITIONS) {
      checkEnd();
      const chunk = order.subarray(from, from + POSITIONS);
      const resolved = Array.from(chunk, index => JSON.parse(found.get(index)) as Resolved);
      const rows = await reportRows(resolved, catalogs, opened, task, problems);
      rows.forEach((row, i) => {
        summary.add(row, chunk[i]!);
        written.set(chunk[i]!, toJson(row));
      });
      task.progress[0] = Math.min(count, from + POSITIONS);
    }
    const about = { provenance: settings.provenance, ...stateOfReport(store, context.stored.entry) };
    const described = summary.described();
    const head = reportHead({ ...task, ...about }, count);
    const tail = reportTail(catalogs, described, { ...task, ...about });
    const out = new Output(task);
    try {
      if (task.format === 'json') {
        out.sink.longText(`${toJson(head).slice(0, -1)}, "rows": [`);
        for (let row = 0; row < count; row++) {
          out.sink.longText(row === 0 ? written.get(row) : `, ${written.get(row)}`);
          out.part(row, checkEnd);
        }
        out.sink.longText(`], ${toJson(tail).slice(1)}`);
      } else if (isReport(task.format)) {
        const row = (index: number) => JSON.parse(written.get(index)) as SampleRow;
        const report: WholeReport = { ...head, ...tail, date: about.date, catalogs, row };
        let part = 0;
        for (const text of writeReport(task.format, report)) {
          out.sink.fragment(Buffer.from(text));
          out.part(Math.min(part++, count - 1), checkEnd);
        }
      } else await writeTable(task.format, catalogs, written, { ...head, ...tail }, count, out, checkEnd);
      return { rows: count, bytes: out.end(), problems: [...new Set(problems)] };
    } finally {
      out.close();
    }
  } finally {
    found.close();
    written.close();
  }
}

/** The steps of a query without a limit of time, and without other queries between them. */
function finish<T>(steps: InSteps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function contextOf({ generation }: ListReportTask, fragments: SharedFragments) {
  const clock = new Clock();
  clock.begin({ startMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
  const store = currentStore();
  return {
    store,
    stored: store as StoredObjects,
    fragments,
    clock,
    index: openGeneration(generation) as SkyIndex,
    sequence: generation.sequence,
    purgedTo: generation.purgedTo,
    past: undefined as Past | undefined,
    object: new ObjectView(),
    out: new ByteSink(),
    body: new ByteSink(),
  } satisfies QueryContext;
}

/** The answer, written in parts. */
class Output {
  readonly sink = new ByteSink();
  readonly #task: ListReportTask;
  readonly #file: AnswerFile;

  constructor(task: ListReportTask) {
    this.#task = task;
    this.#file = new AnswerFile(task);
  }

  /** Call this after each row. */
  part(row: number, checkEnd: () => void): void {
    if (this.sink.length < PART_BYTES) return;
    checkEnd();
    this.#write();
    this.#task.progress[1] = row + 1;
  }

  #write(): void {
    this.#file.write(this.sink.bytes.subarray(0, this.sink.length));
    this.sink.length = 0;
  }

  /** Returns the bytes of the answer. */
  end(): number {
    this.#write();
    this.#task.progress[1] = this.#task.rows;
    this.#file.end();
    return this.#file.bytes;
  }

  close(): void {
    this.#file.close();
  }
}

async function writeTable(
  format: MatchFormat,
  catalogs: readonly CatalogDefinition[],
  written: Spill,
  about: object,
  count: number,
  out: Output,
  checkEnd: () => void,
): Promise<void> {
  const table = sampleTable(catalogs);
  const rowOf = (row: number) => table.row(JSON.parse(written.get(row)) as SampleRow & Record<string, unknown>);
  const writer =
    format === 'fits'
      ? fitsWriter()
      : (await tableFormat(format))(out.sink, table, { program: 'nearsky', json: toJson(about) });
  for (let row = 0; row < count; row++) {
    writer.row(rowOf(row));
    out.part(row, checkEnd);
  }
  writer.end();

  /** FITS needs the lengths of texts before the rows. */
  function fitsWriter(): Pick<TableWriter, 'row' | 'end'> {
    const columns = table.columns.map(() => ({ characters: 0, hasNulls: false }));
    for (let row = 0; row < count; row++)
      rowOf(row).forEach((cell, i) => {
        if (cell === null) columns[i]!.hasNulls = true;
        else if (typeof cell === 'string') columns[i]!.characters = Math.max(columns[i]!.characters, cell.length);
      });
    return beginFits(out.sink, table, { rows: count, columns }, {}, toJson(about));
  }
}
