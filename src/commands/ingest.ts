import { nowUs } from '../base/times.ts';
import { BROKER_NAMES, type BrokerName, isBroker } from '../contract/brokers.ts';
import { normaliserOf } from '../ingest/brokers.ts';
import { ingestFile } from '../ingest/files.ts';
import { Ingester, type MessageCounts } from '../ingest/ingester.ts';
import { MAX_LINE_BYTES, openSource, readBlocks, splitLines } from '../ingest/lines.ts';
import { type Reject, RejectLog } from '../ingest/rejects.ts';
import { openStore } from '../store/store.ts';
import { Writer } from '../store/writer.ts';
import { readTable, tableFiles } from '../survey_tables/object_table.ts';
import {
  bytesOf,
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownBytes,
  shownCount,
  table,
  tell,
  UsageError,
} from './cli.ts';

export const command: Command = {
  usage: `ingest --broker ${BROKER_NAMES.join('|')} FILE...|- | ingest --table FILE|DIR --id COLUMN --ra COLUMN --dec COLUMN`,
  description: `Stores a broker's messages: one a line, plain or gzipped, from files or (-) from standard input. Every object that is new
waits for its crossmatch. A message that cannot be read never stops the run: it is kept, with the reason, in DATA/rejected. Safe to run
again on the same file, and beside a running \`nearsky serve\`. What the counts name is on disk. The exit status is 1 when no message could be
used.

With --table it stores the objects of a survey instead: of a Parquet file, a directory of them, or a HATS catalog, which the archive of another
service may be (\`nearsky export --format hats\`). They are recorded as delivered by TABLE_ORIGIN ("table").`,
  options: {
    broker: { value: 'NAME', help: `whose messages they are: ${BROKER_NAMES.join(', ')}` },
    table: { value: 'PATH', help: 'a Parquet file, a directory of them, or a HATS catalog, in the place of messages' },
    id: { value: 'COLUMN', help: 'of the table: the identifiers, 64-bit integers' },
    ra: { value: 'COLUMN', help: 'of the table: right ascensions, degrees, ICRS' },
    dec: { value: 'COLUMN', help: 'of the table: declinations, degrees, ICRS' },
  },
  example: 'nearsky ingest --data ./data --broker lasair messages.ndjson.gz',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  if (invocation.options.has('table')) return runTable(invocation);
  const broker = invocation.options.get('broker') ?? '';
  if (!isBroker(broker)) {
    throw new UsageError(`--broker must be one of ${BROKER_NAMES.join(', ')} (${JSON.stringify(broker)} was given)`);
  }
  const files = invocation.positionals;
  if (files.length === 0) throw new UsageError(`no file given. Usage: nearsky ${command.usage}`);

  const bytes = bytesOf(files);
  const { config } = invocation;
  const store = openStore(config.NEARSKY_DATA, 'write');
  const rejects = new RejectLog(config, broker);
  const ingester = new Ingester(new Writer(store), rejects);
  const progress = new Progress();
  let bytesRead = 0;
  const onRead = (read: number) => {
    bytesRead += read;
  };
  try {
    for (const file of files) {
      const onBatch = () =>
        progress.update(() => `${file}: ${summary(ingester.counts)}; ${progress.pace(bytesRead, bytes, shownBytes)}`);
      await ingestFile(file, { broker, config, ingester, onBatch, onRead });
    }
  } finally {
    progress.end();
    printCounts(invocation, ingester.counts, rejects);
    rejects.close();
    await store.close();
  }
  const { read, rejected } = ingester.counts;
  if (rejected > 0) tellReasons(ingester.firstRejects, rejected);
  if (rejected < read || read === 0) return 0;
  const guess = await guessBroker(files, config.MIN_DIASOURCE_RELIABILITY);
  const advice = guess
    ? `they look like messages of ${guess}: give --broker ${guess}`
    : `--broker ${broker} takes one JSON message a line, plain or gzipped`;
  tell(`nearsky ingest: no message of ${files.join(', ')} can be used; ${advice}`);
  return 1;
}

async function runTable(invocation: Invocation): Promise<number> {
  const { config, options, positionals } = invocation;
  const column = (name: string) => {
    const value = options.get(name);
    if (value !== undefined) return value;
    throw new UsageError(`--table needs --${name} COLUMN. Usage: nearsky ${command.usage}`);
  };
  const columns = { id: column('id'), ra: column('ra'), dec: column('dec') };
  if (options.has('broker') || positionals.length > 0) {
    throw new UsageError(`--table takes no --broker and no further files. Usage: nearsky ${command.usage}`);
  }
  const files = await tableFiles(options.get('table')!);
  const store = openStore(config.NEARSKY_DATA, 'write');
  const rejects = new RejectLog(config, 'table');
  const ingester = new Ingester(new Writer(store), rejects);
  const progress = new Progress();
  let filesDone = 0;
  try {
    for (const open of files) {
      const file = await open();
      try {
        for await (const outcomes of readTable(file, columns, config.TABLE_ORIGIN, nowUs())) {
          await ingester.store(outcomes);
          const { read } = ingester.counts;
          progress.update(
            () =>
              `file ${filesDone + 1} of ${files.length}: ${summary(ingester.counts)}; ${progress.pace(read, undefined, shownCount)}`,
          );
        }
      } finally {
        file.close();
      }
      filesDone++;
    }
  } finally {
    progress.end();
    printCounts(invocation, ingester.counts, rejects);
    rejects.close();
    await store.close();
  }
  const { read, rejected } = ingester.counts;
  if (rejected > 0) tellReasons(ingester.firstRejects, rejected);
  return read > 0 && rejected === read ? 1 : 0;
}

function tellReasons(first: readonly Reject[], rejected: number): void {
  for (const reject of first) {
    const where = 'file' in reject ? `${reject.file}:${reject.line}: ` : '';
    tell(`${where}${reject.reason}`);
  }
  if (rejected > first.length) tell(`and ${rejected - first.length} more`);
}

const GUESS_LINES = 20;

/** The first broker whose format fits the first lines of the first file. */
async function guessBroker(files: readonly string[], minReliability: number): Promise<BrokerName | undefined> {
  const file = files.find(name => name !== '-');
  if (file === undefined) return undefined;
  const source = openSource(file);
  try {
    for await (const block of readBlocks(source, file)) {
      const texts = [...splitLines(block, MAX_LINE_BYTES)].slice(0, GUESS_LINES).map(({ text }) => text);
      return BROKER_NAMES.find(broker => {
        const normalise = normaliserOf(broker, minReliability);
        return texts.some(text => normalise(text, 0).kind !== 'rejected');
      });
    }
    return undefined;
  } catch {
    // The error that cut the file short was reported already.
    return undefined;
  } finally {
    source.destroy();
  }
}

const summary = (counts: MessageCounts) => `${counts.read} read, ${counts.stored} new, ${counts.rejected} rejected`;

function printCounts(invocation: Invocation, counts: MessageCounts, rejects: RejectLog): void {
  printResult(invocation, { ...counts, rejects_file: rejects.path }, table(describeCounts(counts, rejects.path)));
}

/** Rows for `table`. */
export function describeCounts(
  counts: MessageCounts,
  rejectsFile: string | null,
): [label: string, value: string | number][] {
  return [
    ['read', counts.read],
    ['new objects', counts.stored],
    ['delivered by a further broker', counts.further_broker],
    ['duplicates', counts.duplicate],
    ['below the reliability cut', counts.below_cut],
    ['skipped (solar system)', counts.skipped],
    ['rejected', rejectsFile ? `${counts.rejected}, see ${rejectsFile}` : 0],
    ['without a usable position', counts.without_position],
    ...(counts.blank_lines > 0 ? [['blank lines', counts.blank_lines] as [string, number]] : []),
  ];
}
