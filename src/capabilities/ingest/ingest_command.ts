import { statSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { describeFrame, FrameError, frameOf } from '@nearsky/astrotables/frames';
import type { ParquetFile } from '@nearsky/astrotables/parquet';
import { stopSignal } from '../../core/base/stop_signal.ts';
import { nowUs } from '../../core/base/times.ts';
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
  valueOfText,
} from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import { BROKER_NAMES, type BrokerName } from '../../core/contract/brokers.ts';
import { oneOf } from '../../core/contract/kind.ts';
import { noteError } from '../../core/store/noting.ts';
import { normaliserOf } from './brokers.ts';
import { ingestFile } from './files.ts';
import { describeCounts, Ingester, type MessageCounts } from './ingester.ts';
import { MAX_LINE_BYTES, openByteStream, readBlocks, splitLines } from './lines.ts';
import { type Reject, RejectLog } from './rejects.ts';

/** The exit status after input without a usable message; deploy/nightly.sh moves its file aside. */
const NONE_USABLE = 3;

export const command: Command = {
  usage: `ingest --broker ${BROKER_NAMES.join('|')} FILE...|- | ingest --table FILE|DIR --id COLUMN --ra COLUMN --dec COLUMN [--frame NAME]`,
  description: `Stores a broker's messages: one per line, plain or gzipped, from files or (-) from standard input.
Every new object becomes pending for the crossmatch. A message that cannot be read never stops
\`ingest\`. It is kept, with the reason, in DATA/rejected. Re-running on the same file is safe, also
beside a running \`nearsky serve\`. Everything counted is on disk. The exit status is 3 if all messages
were read and none could be used: a retry would not help.

With --table it stores the objects of a survey instead, from a Parquet file, a directory of them, or
a HATS catalog, for example the archive of another service (\`nearsky export --format hats\`). They
are recorded as delivered by TABLE_ORIGIN ("table").`,
  options: {
    broker: { value: 'NAME', help: `the broker of the messages: ${BROKER_NAMES.join(', ')}` },
    table: { value: 'PATH', help: 'a Parquet file, a directory of them, or a HATS catalog, instead of messages' },
    id: { value: 'COLUMN', help: 'column of the identifiers in the table, 64-bit integers' },
    ra: { value: 'COLUMN', help: 'column of the right ascensions (or galactic longitudes) in the table, degrees' },
    dec: { value: 'COLUMN', help: 'column of the declinations (or galactic latitudes) in the table, degrees' },
    frame: {
      value: 'NAME',
      help: 'frame of these positions: ICRS (the default, unless the column names state another), FK5 J1975, FK4 B1950, galactic; positions are stored in ICRS',
    },
  },
  example: 'nearsky ingest --data ./data --broker lasair messages.ndjson.gz',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  if (invocation.options.has('table')) return runTable(invocation);
  const broker = valueOfText(oneOf(BROKER_NAMES), '--broker', invocation.options.get('broker') ?? '');
  const stray = ['id', 'ra', 'dec', 'frame'].find(name => invocation.options.has(name));
  if (stray !== undefined) throw new UsageError(`--${stray} needs --table`, command);
  const files = invocation.positionals;
  if (files.length === 0) throw new UsageError('no file given', command);

  const bytes = bytesOf(files);
  const { config } = invocation;
  const advice = () => adviceFor(broker, files, config.MIN_DIASOURCE_RELIABILITY);
  return storing(invocation, { origin: broker, input: files.join(', '), advice }, async (ingester, progress) => {
    let bytesRead = 0;
    const onRead = (read: number) => {
      bytesRead += read;
    };
    for (const file of files) {
      const onBatch = () =>
        progress.update(() => `${file}: ${summary(ingester.counts)}; ${progress.pace(bytesRead, bytes, shownBytes)}`);
      await ingestFile(file, { broker, config, ingester, onBatch, onRead });
    }
  });
}

async function runTable(invocation: Invocation): Promise<number> {
  const { config, options, positionals } = invocation;
  const column = (name: string) => {
    const value = options.get(name);
    if (value !== undefined) return value;
    throw new UsageError(`--table needs --${name} COLUMN`, command);
  };
  const columns = { id: column('id'), ra: column('ra'), dec: column('dec') };
  const frame = options.get('frame');
  if (frame !== undefined) checkFrame(frame);
  if (options.has('broker') || positionals.length > 0) {
    throw new UsageError('--table takes no --broker and no further files', command);
  }
  const path = options.get('table')!;
  // Loaded only here: the Parquet reader takes a while to load, and messages do not need it.
  const { declaredPositions, readTable, tableFiles } = await import('./survey_table.ts');
  const files = await tableFiles(path);
  const told = new Set<string>();
  const toIcrsOf = async (file: ParquetFile) => {
    const positions = await declaredPositions(file, { ...columns, frame });
    const described = describeFrame(positions.frame);
    if (positions.frame.system !== 'ICRS' && !told.has(described))
      tell(
        `nearsky ingest: the positions in ${columns.ra} and ${columns.dec} are ${described}; they are converted to ICRS`,
      );
    told.add(described);
    return positions.toIcrs;
  };
  const advice = async () => 'name the columns of identifiers and positions with --id, --ra and --dec';
  const stop = stopSignal();
  const status = await storing(invocation, { origin: 'table', input: path, advice }, async (ingester, progress) => {
    for (const [i, open] of files.entries()) {
      if (stop.aborted) break;
      const file = await open();
      try {
        for await (const outcomes of readTable(file, columns, toIcrsOf, config.TABLE_ORIGIN, nowUs())) {
          await ingester.store(outcomes);
          // Signals arrive only between turns of the event loop, and this loop never waits.
          await turn();
          if (stop.aborted) break;
          const { counts } = ingester;
          progress.update(() => {
            const pace = progress.pace(counts.read, undefined, shownCount);
            return `file ${i + 1} of ${files.length}: ${summary(counts)}; ${pace}`;
          });
        }
      } finally {
        file.close();
      }
    }
  });
  if (stop.aborted) {
    tell(
      `nearsky ingest: interrupted (${stop.reason}). The rows counted above are stored. To store the rest, run the same command again.`,
    );
    return stop.reason === 'SIGINT' ? 130 : 143;
  }
  return status;
}

/** @throws UsageError for an unsupported frame */
function checkFrame(text: string): void {
  try {
    frameOf(text);
  } catch (error) {
    throw error instanceof FrameError ? new UsageError(`--frame ${text}: ${error.message}`) : error;
  }
}

interface Input {
  /** The broker's name or `table`: rejected messages of this input are stored under it. */
  readonly origin: BrokerName | 'table';
  /** The name of the input, for messages. */
  readonly input: string;
  /** Returns advice if nothing of the input can be used. */
  advice(): Promise<string>;
}

/**
 * Runs `work`, which stores the input. Then prints the counts, and any problems with the input. Returns the exit
 * status.
 */
async function storing(
  invocation: Invocation,
  { origin, input, advice }: Input,
  work: (ingester: Ingester, progress: Progress) => Promise<void>,
): Promise<number> {
  await using archive = await openArchive(invocation.config);
  using rejects = new RejectLog(invocation.config, origin);
  const ingester = new Ingester(archive.writer, rejects);
  const progress = new Progress();
  const { counts } = ingester;
  try {
    await work(ingester, progress);
    progress.end();
    if (counts.read === 0) tell(`nearsky ingest: ${input} is empty`);
    else if (counts.rejected === counts.read)
      tell(`nearsky ingest: no message of ${input} can be used; ${await advice()}`);
    else if (
      counts.without_position > 0 &&
      counts.without_position === counts.stored + counts.further_broker + counts.duplicate
    )
      tell(`nearsky ingest: no message of ${input} has a usable position; ${await advice()}`);
  } catch (error) {
    noteError(archive.writer, `ingest ${origin}`, error);
    throw error;
  } finally {
    progress.end();
    tellReasons(ingester.firstRejects, counts.rejected);
    if (counts.read > 0 || invocation.flags.has('json')) printCounts(invocation, counts, rejects);
  }
  return counts.read > 0 && counts.rejected === counts.read ? NONE_USABLE : 0;
}

/** Only the first part of a rejected message is shown, up to this length. */
const QUOTED_CHARACTERS = 96;

function tellReasons(first: readonly Reject[], rejected: number): void {
  for (const reject of first) {
    const where = 'file' in reject ? `${reject.file}:${reject.line}: ` : '';
    const start = 'message' in reject ? reject.message.trim().slice(0, QUOTED_CHARACTERS) : '';
    tell(`${where}${reject.reason}${start === '' ? '' : `: ${start}`}`);
  }
  if (rejected > first.length) tell(`and ${rejected - first.length} more`);
}

const GUESS_LINES = 20;

/**
 * The advice if no message belongs to `broker`: It follows from the first lines, which show the program or broker that
 * wrote them.
 */
async function adviceFor(broker: BrokerName, files: readonly string[], minReliability: number): Promise<string> {
  const texts = await firstLines(files);
  if (texts.some(text => /^\{"type":"(?:object|tns_snapshot)"/.test(text)))
    return 'it looks like the output of nearsky export: use nearsky import';
  const guess = BROKER_NAMES.find(name => {
    const normalise = normaliserOf(name, minReliability);
    return name !== broker && texts.some(text => normalise(text, 0).kind !== 'rejected');
  });
  if (guess) return `it looks like messages of ${guess}: use --broker ${guess}`;
  return `--broker ${broker} reads one JSON message per line, plain or gzipped`;
}

/** The first lines of the first file that can be read twice. */
async function firstLines(files: readonly string[]): Promise<string[]> {
  const file = files.find(name => name !== '-' && statSync(name).isFile());
  if (file === undefined) return [];
  const stream = openByteStream(file);
  try {
    for await (const block of readBlocks(stream, file))
      return [...splitLines(block, MAX_LINE_BYTES)].slice(0, GUESS_LINES).map(({ text }) => text);
    return [];
  } catch {
    // The error that cut the file short was reported already.
    return [];
  } finally {
    stream.destroy();
  }
}

const summary = (counts: MessageCounts) => `${counts.read} read, ${counts.stored} new, ${counts.rejected} rejected`;

function printCounts(invocation: Invocation, counts: MessageCounts, rejects: RejectLog): void {
  printResult(invocation, { ...counts, rejects_file: rejects.path }, table(describeCounts(counts, rejects.path)));
}
