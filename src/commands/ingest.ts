import { BROKERS, isBroker } from '../ingest/brokers.ts';
import { ingestFile } from '../ingest/files.ts';
import { Ingester, type MessageCounts } from '../ingest/ingester.ts';
import { RejectLog } from '../ingest/rejects.ts';
import { openStore } from '../store/store.ts';
import { Writer } from '../store/writer.ts';
import { type Command, type Invocation, Progress, printResult, table, UsageError } from './cli.ts';

export const command: Command = {
  usage: `ingest --broker ${BROKERS.join('|')} FILE...|-`,
  description: `Stores a broker's messages: one a line, plain or gzipped, from files or (-) from standard input. Every object that is new
waits for its crossmatch. A message that cannot be read never stops the run: it is kept, with the reason, in DATA/rejected. Safe to run
again on the same file, and beside a running \`nearsky serve\`. What the counts name is on disk.`,
  options: {
    broker: { value: 'NAME', help: `whose messages they are: ${BROKERS.join(', ')}` },
  },
  example: 'nearsky ingest --data ./data --broker lasair messages.ndjson.gz',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const broker = invocation.options.get('broker') ?? '';
  if (!isBroker(broker)) {
    throw new UsageError(`--broker must be one of ${BROKERS.join(', ')}: current value is ${JSON.stringify(broker)}`);
  }
  const files = invocation.positionals;
  if (files.length === 0) throw new UsageError(`no file given. Usage: nearsky ${command.usage}`);

  const { config } = invocation;
  const store = openStore(config.NEARSKY_DATA, 'write');
  const rejects = new RejectLog(config, broker);
  const ingester = new Ingester(new Writer(store), rejects);
  const progress = new Progress();
  try {
    for (const file of files) {
      const onBatch = () => progress.update(() => `${file}: ${summary(ingester.counts)}`);
      await ingestFile(file, { broker, config, ingester, onBatch });
    }
  } finally {
    progress.end();
    printCounts(invocation, ingester.counts, rejects);
    rejects.close();
    await store.close();
  }
  return 0;
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
  ];
}
