/** `nearsky tns load|refresh`: the TNS registry, which resolves names and is associated with what is crossmatched. */
import { formatTime, nowUs } from '../../workers/times.ts';
import { parseTime } from '../http/times.ts';
import { RejectLog } from '../ingest/rejects.ts';
import { openStore } from '../store/store.ts';
import { Writer } from '../store/writer.ts';
import { RegistryError } from '../tns/errors.ts';
import { RegistryLoader, type RowCounts } from '../tns/loader.ts';
import { isSnapshotCurrent } from '../tns/names.ts';
import { readPublicPath } from '../tns/public_file.ts';
import type { TimeSpan } from '../tns/time_line.ts';
import { type Command, type Invocation, Progress, printResult, table, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'tns load FILE [--epoch TIME] | tns refresh',
  description: `load: replaces the TNS registry by a public TNS file (.csv, .csv.zip or .csv.gz, of 23 columns or the older 21). Its first line says at what
time the registry was so; --epoch says it where the file does not, or otherwise. Rows that are no registry object are counted by reason and
kept in DATA/rejected. Readers see the former registry until the new one is complete; when anything fails they go on seeing it.`,
  options: {
    epoch: {
      value: 'TIME',
      help: 'load: the time of the registry in the file, ISO 8601, UTC unless it says otherwise',
    },
  },
  example: 'nearsky tns load tns_public_objects.csv.zip',
  async run(invocation) {
    const [verb, ...rest] = invocation.positionals;
    if (verb === 'load' && rest.length === 1) return load(invocation, rest[0]!, givenEpoch(invocation));
    throw new UsageError(`tns takes load FILE or refresh. Usage: nearsky ${this.usage}`);
  },
};

function givenEpoch({ options }: Invocation): number | undefined {
  const text = options.get('epoch');
  const epochUs = text === undefined ? undefined : parseTime(text);
  if (text === undefined || (epochUs !== undefined && epochUs <= nowUs())) return epochUs;
  throw new UsageError(
    `--epoch must be a past ISO 8601 time such as 2026-02-10T00:00:00Z: current value is ${JSON.stringify(text)}`,
  );
}

/** @throws RegistryError where it does not say, or lies in the future: such a registry would be current for ever */
function epochOfFile(span: TimeSpan | undefined, file: string): number {
  const epochUs = span?.endUs ?? span?.startUs;
  if (epochUs !== undefined && epochUs <= nowUs()) return epochUs;
  const why =
    epochUs === undefined
      ? 'it does not say of what time it is'
      : `its time lies in the future, ${formatTime(epochUs)}`;
  throw new RegistryError(`Cannot load ${file} as ${why}: give --epoch TIME`);
}

async function load(invocation: Invocation, file: string, given: number | undefined): Promise<number> {
  const { NEARSKY_DATA } = invocation.config;
  const store = openStore(NEARSKY_DATA, 'write');
  const writer = new Writer(store);
  const rejects = new RejectLog(NEARSKY_DATA, 'tns');
  const progress = new Progress();
  const onBatch = ({ read, rejected }: RowCounts) => progress.update(() => `${read} rows read, ${rejected} rejected`);
  const loader = new RegistryLoader({ writer, rejects, onBatch });
  try {
    const { load, epochUs, objects } = await loader.stage(readPublicPath(file), file, span => {
      return given ?? epochOfFile(span, file);
    });
    await writer.publishRegistry(load, epochUs);
    progress.end();
    print(invocation, { objects, epochUs, counts: loader.counts, rejects });
    return 0;
  } finally {
    progress.end();
    rejects.close();
    await store.close();
  }
}

interface Loaded {
  readonly objects: number;
  readonly epochUs: number;
  readonly counts: RowCounts;
  readonly rejects: RejectLog;
}

function print(invocation: Invocation, { objects, epochUs, counts, rejects }: Loaded): void {
  const isCurrent = isSnapshotCurrent(epochUs, nowUs(), invocation.config.TNS_SNAPSHOT_MAX_AGE_SECONDS);
  const rejectsFile = counts.rejected > 0 ? rejects.path : null;
  const epoch = formatTime(epochUs);
  const value = { objects, epoch, current: isCurrent, ...counts, rejects_file: rejectsFile };
  const text = table([
    ['objects', objects],
    ['epoch', `${epoch}${isCurrent ? '' : ', too old to resolve names: run nearsky tns refresh, hourly'}`],
    ['rows read', counts.read],
    ['rejected', rejectsFile ? `${counts.rejected}, see ${rejectsFile}` : 0],
    ...Object.entries(counts.reasons).map(([reason, count]): [string, number] => [`  ${reason}`, count]),
  ]);
  printResult(invocation, value, text);
}
