/** `nearsky remove`: removes objects that should never have been stored, or are kept no longer. */

import { stopSignal } from '../../core/base/stop_signal.ts';
import { formatTime } from '../../core/base/times.ts';
import {
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownCount,
  TIME,
  table,
  tell,
  UsageError,
} from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import { BROKER_NAMES, isBroker } from '../../core/contract/brokers.ts';
import { OBJECT_ID } from '../../core/documents/kinds.ts';
import { requireDatabase } from '../../core/store/environment.ts';
import { oldestIds } from '../../core/store/recent.ts';
import { statusOf } from '../../core/store/status.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import { MAX_LINE_BYTES, openByteStream, readBlocks, splitLines } from '../ingest/lines.ts';
import { deliveriesIn } from './deliveries.ts';
import { REMOVED_AT_ONCE, removeUnclaimed } from './remove_objects.ts';

export const command: Command = {
  usage:
    'remove --ids FILE|- [--yes --reason TEXT] | remove --broker NAME --from TIME --to TIME [--yes --reason TEXT] | remove --first-seen-before TIME [--yes --reason TEXT]',
  description: `Removes objects with everything that belongs to them: deliveries, crossmatches and matches. Without
--yes it changes nothing, and prints what it would remove. Every answer, count, map, table, stream and
export follows, also of a running \`nearsky serve\` and on every node. A removed object answers
not_in_service, and is stored anew if it is delivered again. To be able to undo a removal, run
\`nearsky export\` before; \`nearsky import\` restores the objects. Re-running is safe.

With --broker, an object that another broker delivered, too, loses only the delivery of this broker.
It keeps its position, times and reliability, even if they came with that delivery.`,
  options: {
    ids: {
      value: 'FILE',
      help: 'the objects with these ids: one diaObjectId a line, plain or gzipped; - for standard input',
    },
    broker: {
      value: 'NAME',
      help: 'objects whose first delivery by this broker was stored from --from (inclusive) to --to (exclusive)',
    },
    from: { value: 'TIME', help: 'when the first delivery was stored, ISO 8601; only with --broker' },
    to: { value: 'TIME', help: 'the end of the window, ISO 8601; only with --broker' },
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
  const { config, flags } = invocation;
  const selection = selectionOf(invocation);
  const reason = reasonOf(invocation);
  requireDatabase(config.NEARSKY_DATA);
  const chosen = 'file' in selection ? { given: await idsIn(selection.file) } : selection;
  const found = await find(invocation, chosen);
  const { ids, ...shown } = found;
  if (reason === undefined || ids.length === 0) {
    const advice = ids.length === 0 || flags.has('yes') ? '' : '\nnothing is removed yet: add --yes --reason TEXT';
    printResult(invocation, { ...shown, removed: 0 }, `${describe(found)}${advice}`);
    return 0;
  }
  const stop = stopSignal();
  const of = { reason, broker: 'broker' in selection ? selection.broker : undefined };
  let [removed, kept] = [0, 0];
  {
    await using archive = await openArchive(config);
    using progress = new Progress();
    for (let from = 0; from < ids.length && !stop.aborted; from += REMOVED_AT_ONCE) {
      const counts = await removeUnclaimed(archive.writer, ids.slice(from, from + REMOVED_AT_ONCE), of, stop);
      removed += counts.removed;
      kept += counts.kept;
      const done = removed + kept;
      progress.update(() => `${done} of ${ids.length} objects; ${progress.pace(done, ids.length, shownCount)}`);
    }
  }
  const counts = of.broker === undefined ? { removed } : { removed, deliveries_removed: kept };
  const rows = Object.entries(counts).map(([label, count]) => [label.replace('_', ' '), count] as const);
  printResult(invocation, { ...shown, ...counts }, `${describe(found)}\n${table(rows)}`);
  if (!stop.aborted) return 0;
  tell(`nearsky remove: interrupted (${stop.reason}). To remove the rest, run the same command again.`);
  return stop.reason === 'SIGINT' ? 130 : 143;
}

type ByTime =
  | { readonly beforeUs: number }
  | { readonly broker: string; readonly fromUs: number; readonly toUs: number };

function selectionOf({ options, value }: Invocation): ByTime | { readonly file: string } {
  const [file, broker, before] = ['ids', 'broker', 'first-seen-before'].map(name => options.get(name));
  if ([file, broker, before].filter(each => each !== undefined).length !== 1)
    throw new UsageError('give one of --ids, --broker and --first-seen-before', command);
  if ((broker !== undefined) !== options.has('from') || options.has('from') !== options.has('to'))
    throw new UsageError('--broker needs --from and --to, and nothing else takes them', command);
  if (file !== undefined) return { file };
  if (broker === undefined) return { beforeUs: value('first-seen-before', TIME)! };
  const window = { broker, fromUs: value('from', TIME)!, toUs: value('to', TIME)! };
  if (window.fromUs < window.toUs) return window;
  throw new UsageError(`--from must be before --to (${options.get('from')} and ${options.get('to')} were given)`);
}

type Chosen = ByTime | { readonly given: ReadonlySet<bigint> };

async function find({ config }: Invocation, chosen: Chosen): Promise<Found> {
  await using store = openStore(config.NEARSKY_DATA, 'read');
  const found = foundIn(store, chosen);
  store.requireUndisturbed();
  return found;
}

function foundIn(store: Store, chosen: Chosen): Found {
  if ('given' in chosen) return describedObjects(store, chosen.given);
  if ('beforeUs' in chosen) return describedObjects(store, oldestIds(store.databases, { endUs: chosen.beforeUs }));
  const { ids, first, undated } = deliveriesIn(store, chosen);
  // An import may bring objects of other brokers.
  if (ids.size + undated === 0 && !isBroker(chosen.broker))
    throw new UsageError(
      `--broker must be one of ${BROKER_NAMES.join(', ')}, or one that delivered objects in the window (${chosen.broker} was given)`,
    );
  const [only, staying]: [bigint[], bigint[]] = [[], []];
  for (const id of ids) (store.getObject(id)?.brokers.length === 1 ? only : staying).push(id);
  const found = describedObjects(store, only);
  const deliveries = {
    staying: staying.length,
    staying_with_its_values: staying.filter(id => first.has(id)).length,
    undated,
  };
  return { ...found, ids: [...found.ids, ...staying], deliveries };
}

/** @returns undefined for a dry run */
function reasonOf({ flags, options }: Invocation): string | undefined {
  const reason = options.get('reason');
  if (!flags.has('yes')) {
    if (reason !== undefined) throw new UsageError('--reason needs --yes');
    return undefined;
  }
  if (reason === undefined || reason.trim() === '') throw new UsageError('--yes needs --reason TEXT');
  if (reason.length > MAX_REASON)
    throw new UsageError(`--reason must have at most ${MAX_REASON} characters (got ${reason.length})`);
  return reason;
}

/** @throws Error naming a line that is not an id */
async function idsIn(file: string): Promise<Set<bigint>> {
  const ids = new Set<bigint>();
  const stream = openByteStream(file);
  try {
    for await (const block of readBlocks(stream, file, 'nothing was removed'))
      for (const { text, number, problem } of splitLines(block, MAX_LINE_BYTES)) {
        const id = text.trim();
        if (id === '' && !problem) continue;
        const diaObjectId = problem ? undefined : OBJECT_ID.parseText(id);
        if (diaObjectId === undefined)
          throw new Error(`Cannot use line ${number} of ${file} because it is not a diaObjectId; nothing was removed`);
        ids.add(diaObjectId);
      }
  } finally {
    stream.destroy();
  }
  return ids;
}

interface Found {
  /** The stored objects, also those that only lose a delivery. All other values are of objects that are removed. */
  readonly ids: readonly bigint[];
  readonly objects: number;
  readonly not_stored: number;
  readonly by_status: Readonly<Record<string, number>>;
  /** An object counts for each of its brokers. */
  readonly by_broker: Readonly<Record<string, number>>;
  readonly examples: readonly { readonly diaObjectId: string; readonly status: string; readonly ingest_time: string }[];
  readonly deliveries?: {
    /** Objects that lose a delivery, and stay because another broker delivered them, too. */
    readonly staying: number;
    /** Of these, the objects whose position, times and reliability came with that delivery. */
    readonly staying_with_its_values: number;
    /** See `FoundDeliveries`. */
    readonly undated: number;
  };
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

function describe({ objects, not_stored, by_status, by_broker, examples, deliveries }: Found): string {
  return table([
    ['objects', objects],
    ...Object.entries(by_status).map(([status, count]) => [`  ${status}`, count] as const),
    ...Object.entries(by_broker).map(([broker, count]) => [`  of ${broker}`, count] as const),
    ...(not_stored > 0 ? [['not stored', not_stored] as const] : []),
    ...examples.map(({ diaObjectId, status, ingest_time }, i) => {
      return [i === 0 ? 'examples' : '', `${diaObjectId}, ${status}, ingested ${ingest_time}`] as const;
    }),
    ...(deliveries
      ? ([
          ['objects that only lose this delivery', deliveries.staying],
          ['  and keep the position that came with it', deliveries.staying_with_its_values],
          ['not removed: others that may belong to the window, at most', deliveries.undated],
        ] as const)
      : []),
  ]);
}
