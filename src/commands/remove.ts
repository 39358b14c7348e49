/** `nearsky remove`: removes objects that should never have been stored, or are kept no longer. */
import { parseTime } from '../base/parse_time.ts';
import { stopSignal } from '../base/stop_signal.ts';
import { formatTime } from '../base/times.ts';
import { openArchive } from '../cluster/archive.ts';
import { MAX_OBJECT_ID } from '../contract/limits.ts';
import { MAX_LINE_BYTES, openSource, readBlocks, splitLines } from '../ingest/lines.ts';
import { REMOVED_AT_ONCE, removeUnclaimed } from '../store/remove_objects.ts';
import { statusOf } from '../store/status.ts';
import { requireDatabase, type Store, withStore } from '../store/store.ts';
import { type Command, type Invocation, Progress, printResult, shownCount, table, tell, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'remove --ids FILE|- [--yes --reason TEXT] | remove --first-seen-before TIME [--yes --reason TEXT]',
  description: `Removes objects with everything that belongs to them: deliveries, crossmatches and matches. Without
--yes it changes nothing, and prints what it would remove. Every answer, count, map, table, stream and
export follows, also of a running \`nearsky serve\` and on every node. A removed object answers
not_in_service, and is stored anew if it is delivered again. To be able to undo a removal, run
\`nearsky export\` before; \`nearsky import\` restores the objects. Re-running is safe.`,
  options: {
    ids: {
      value: 'FILE',
      help: 'the objects with these ids: one diaObjectId a line, plain or gzipped; - for standard input',
    },
    'first-seen-before': { value: 'TIME', help: 'the objects with an ingest time before this time, ISO 8601' },
    yes: { help: 'remove the objects' },
    reason: { value: 'TEXT', help: 'why they are removed, at most 200 characters; nearsky stats shows it' },
  },
  example: 'nearsky remove --data ./data --ids wrong.txt',
  run,
};

const EXAMPLES = 5;
const MAX_REASON = 200;

async function run(invocation: Invocation): Promise<number> {
  const { config, options, flags, positionals } = invocation;
  const [file, before] = [options.get('ids'), options.get('first-seen-before')];
  if (positionals.length > 0) throw new UsageError(`remove takes no arguments. Usage: nearsky ${command.usage}`);
  if ((file === undefined) === (before === undefined))
    throw new UsageError(`give one of --ids and --first-seen-before. Usage: nearsky ${command.usage}`);
  const reason = reasonOf(invocation);
  const beforeUs = before === undefined ? undefined : timeOf(before);
  requireDatabase(config.NEARSKY_DATA);
  const given = file === undefined ? undefined : await idsIn(file);
  const found = await withStore(config.NEARSKY_DATA, async store => {
    const found = describedObjects(store, given ?? store.oldestIds(beforeUs!));
    store.requireUndisturbed();
    return found;
  });
  const { ids, ...shown } = found;
  if (reason === undefined || ids.length === 0) {
    const advice = ids.length === 0 || flags.has('yes') ? '' : '\nnothing is removed yet: add --yes --reason TEXT';
    printResult(invocation, { ...shown, removed: 0 }, `${describe(found)}${advice}`);
    return 0;
  }
  const stop = stopSignal();
  const { writer, close } = await openArchive(config);
  const progress = new Progress();
  let removed = 0;
  try {
    for (let from = 0; from < ids.length && !stop.aborted; from += REMOVED_AT_ONCE) {
      removed += await removeUnclaimed(writer, ids.slice(from, from + REMOVED_AT_ONCE), reason, stop);
      progress.update(
        () => `${removed} of ${ids.length} objects removed; ${progress.pace(removed, ids.length, shownCount)}`,
      );
    }
  } finally {
    progress.end();
    await close();
  }
  printResult(invocation, { ...shown, removed }, `${describe(found)}\n${table([['removed', removed]])}`);
  if (!stop.aborted) return 0;
  tell(`nearsky remove: interrupted (${stop.reason}). To remove the rest, run the same command again.`);
  return stop.reason === 'SIGINT' ? 130 : 143;
}

/** @returns undefined for a dry run */
function reasonOf({ flags, options }: Invocation): string | undefined {
  const reason = options.get('reason');
  if (!flags.has('yes')) {
    if (reason !== undefined) throw new UsageError('--reason needs --yes');
    return undefined;
  }
  if (reason === undefined || reason.trim() === '') throw new UsageError('--yes needs --reason TEXT');
  if (reason.length > MAX_REASON) throw new UsageError(`--reason must have at most ${MAX_REASON} characters`);
  return reason;
}

function timeOf(text: string): number {
  const timeUs = parseTime(text);
  if (timeUs !== undefined) return timeUs;
  throw new UsageError(`--first-seen-before must be an ISO 8601 time such as 2026-11-22T12:00:00Z (${text} was given)`);
}

/** @throws Error naming a line that is not an id */
async function idsIn(file: string): Promise<Set<bigint>> {
  const ids = new Set<bigint>();
  const source = openSource(file);
  try {
    for await (const block of readBlocks(source, file))
      for (const { text, number, problem } of splitLines(block, MAX_LINE_BYTES)) {
        const id = text.trim();
        if (id === '' && !problem) continue;
        if (problem || !/^\d{1,19}$/.test(id) || BigInt(id) > MAX_OBJECT_ID)
          throw new Error(`Cannot use line ${number} of ${file} because it is not a diaObjectId; nothing was removed`);
        ids.add(BigInt(id));
      }
  } finally {
    source.destroy();
  }
  return ids;
}

interface Found {
  /** The stored objects. */
  readonly ids: readonly bigint[];
  readonly objects: number;
  readonly not_stored: number;
  readonly by_status: Readonly<Record<string, number>>;
  /** An object counts for each of its brokers. */
  readonly by_broker: Readonly<Record<string, number>>;
  readonly examples: readonly { readonly diaObjectId: string; readonly status: string; readonly ingest_time: string }[];
}

function describedObjects(store: Store, wanted: Iterable<bigint>): Found {
  const ids: bigint[] = [];
  const [byStatus, byBroker]: Record<string, number>[] = [{}, {}];
  const examples = [];
  let missing = 0;
  for (const id of wanted) {
    const object = store.getObject(id);
    if (!object) {
      missing++;
      continue;
    }
    const status = statusOf(object);
    byStatus![status] = (byStatus![status] ?? 0) + 1;
    for (const broker of object.brokers) byBroker![broker] = (byBroker![broker] ?? 0) + 1;
    if (ids.push(id) <= EXAMPLES)
      examples.push({ diaObjectId: `${id}`, status, ingest_time: formatTime(object.ingestTimeUs) });
  }
  return { ids, objects: ids.length, not_stored: missing, by_status: byStatus!, by_broker: byBroker!, examples };
}

function describe({ objects, not_stored, by_status, by_broker, examples }: Found): string {
  return table([
    ['objects', objects],
    ...Object.entries(by_status).map(([status, count]) => [`  ${status}`, count] as const),
    ...Object.entries(by_broker).map(([broker, count]) => [`  of ${broker}`, count] as const),
    ...(not_stored > 0 ? [['not stored', not_stored] as const] : []),
    ...examples.map(({ diaObjectId, status, ingest_time }, i) => {
      return [i === 0 ? 'examples' : '', `${diaObjectId}, ${status}, ingested ${ingest_time}`] as const;
    }),
  ]);
}
