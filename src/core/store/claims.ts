/**
 * Claims of pending objects, so that two processes never crossmatch the same objects at the same time; and claims of
 * tasks that only one process at a time may run.
 *
 * A claim is taken in a write transaction, of which LMDB has one at a time, so that an object is in at most one valid
 * claim. A claim is valid while its process lives. No clock is involved: every process that has the database open holds
 * a kernel lock for its entry in LMDB's table of readers, and the kernel releases the lock when the process ends, even
 * by kill -9. If the table were ever wrong, an object would be searched twice and still be recorded once, because only
 * a pending object is recorded (`Writer.recordCrossmatches`).
 */
import { randomUUID } from 'node:crypto';
import type { Databases } from './databases.ts';
import { decodeClaim, encodeClaim, encodeKey } from './records.ts';
import { RefusedChange } from './store_error.ts';

export interface Claim {
  readonly key: string;
  /** The claimed objects; a claim without objects need not be dropped. */
  readonly ids: readonly bigint[];
  /** The objects that other claims hold. */
  readonly busy: readonly bigint[];
}

/** The process id of an entry that stays when its process ends. */
const NO_PROCESS = 0;

/** The open claims of this process. They are needed because a killed process may have had the same process id. */
const ours = new Set<string>();
const utf8 = new TextEncoder();

/**
 * Call this in a write transaction, like `dropClaim`. It removes the claims of processes that have ended.
 * @param isAgain whether to claim objects that are neither pending nor unread, too
 */
export function takeClaim(
  databases: Databases,
  ids: readonly bigint[],
  livePids: ReadonlySet<number>,
  isAgain = false,
): Claim {
  const { claims, pending, unread } = databases;
  const taken = claimedIds(databases, livePids, key => claims.remove(key));
  const isWaiting = (key: Uint8Array) => isAgain || pending.doesExist(key) || unread.doesExist(key);
  const waiting = ids.filter(id => isWaiting(encodeKey(id)));
  const claim = {
    key: randomUUID(),
    ids: waiting.filter(id => !taken.has(id)),
    busy: waiting.filter(id => taken.has(id)),
  };
  if (claim.ids.length > 0) {
    claims.put(utf8.encode(claim.key), encodeClaim({ pid: process.pid, ids: claim.ids }));
    ours.add(claim.key);
  }
  return claim;
}

/**
 * Claims a task that one process at a time may do; the claim ends with `dropClaim` or with the process.
 * @returns undefined if another living process has the claim
 */
export function takeExclusive({ claims }: Databases, name: string, livePids: ReadonlySet<number>): Claim | undefined {
  const taken = claims.get(utf8.encode(name));
  if (taken && isLive(name, decodeClaim(taken).pid, livePids)) return undefined;
  claims.put(utf8.encode(name), encodeClaim({ pid: process.pid, ids: [] }));
  ours.add(name);
  return { key: name, ids: [], busy: [] };
}

function isLive(key: string, pid: number, livePids: ReadonlySet<number>): boolean {
  return pid === process.pid ? ours.has(key) : livePids.has(pid);
}

/**
 * The claims of living processes.
 * @param onDead called with each claim of a process that has ended
 */
export function claimedIds(
  { claims }: Databases,
  livePids: ReadonlySet<number>,
  onDead?: (key: Uint8Array) => void,
): Set<bigint> {
  const claimed = new Set<bigint>();
  for (const { key, value } of [...claims.getRange({})]) {
    const { pid, ids } = decodeClaim(value);
    if (pid === NO_PROCESS) continue;
    if (isLive(new TextDecoder().decode(key), pid, livePids)) for (const id of ids) claimed.add(id);
    else onDead?.(key);
  }
  return claimed;
}

export function dropClaim({ claims }: Databases, { key }: Claim): void {
  ours.delete(key);
  claims.remove(utf8.encode(key));
}

/**
 * The claim of a process that submits changes to a log. Several processes of one machine apply the same log to the same
 * archive. The process that applies a change first leaves the outcome for the process that submitted it.
 * @param submitter the beginning of the ids of its changes, up to the slash
 */
export const submitterClaim = (submitter: string) => `submit changes as ${submitter}`;
const outcomeKey = (id: string) => `outcome of ${id}`;

/** Call this before the change with that id is appended to the log. */
export function expectOutcome(id: string): void {
  ours.add(outcomeKey(id));
}

/** Call this when nothing waits for the outcome of the change any more. */
export function forgetOutcome(id: string): void {
  ours.delete(outcomeKey(id));
}

/** Leaves the outcome of a change for its submitter, if that is another process of this machine. */
export function passOutcome({ claims }: Databases, id: string, outcome: unknown): void {
  const submitter = submitterClaim(id.slice(0, id.indexOf('/')));
  const taken = ours.has(submitter) ? undefined : claims.get(utf8.encode(submitter));
  if (!taken) return;
  const passed = outcome instanceof RefusedChange ? { refused: outcome.message } : { value: outcome ?? null };
  claims.put(utf8.encode(outcomeKey(id)), encodeClaim({ pid: decodeClaim(taken).pid, ids: [], outcome: passed }));
}

/** The outcome that another process has left, and the claim to drop after reading it. */
export function passedOutcome({ claims }: Databases, id: string): { claim: Claim; outcome: unknown } | undefined {
  const key = outcomeKey(id);
  const bytes = claims.get(utf8.encode(key));
  if (!bytes) return undefined;
  const { refused, value } = decodeClaim(bytes).outcome as { refused?: string; value?: unknown };
  const outcome = refused === undefined ? (value ?? undefined) : new RefusedChange(refused);
  return { claim: { key, ids: [], busy: [] }, outcome };
}

const STOP_KEY = 'the node has stopped';

/** Stores why this process no longer follows the log. */
export function noteStop({ claims }: Databases, reason: string): void {
  claims.put(utf8.encode(STOP_KEY), encodeClaim({ pid: process.pid, ids: [], outcome: { value: reason } }));
  ours.add(STOP_KEY);
}

/** The reason why a living process no longer follows the log; undefined if all follow it. */
export function readStop({ claims }: Databases, livePids: ReadonlySet<number>): string | undefined {
  const bytes = claims.get(utf8.encode(STOP_KEY));
  if (!bytes) return undefined;
  const { pid, outcome } = decodeClaim(bytes);
  return isLive(STOP_KEY, pid, livePids) ? (outcome as { value: string }).value : undefined;
}

const DAMAGE_KEY = 'the database is damaged';

/** Stores what was found damaged, for all later processes; undefined removes the note. */
export function noteDamage({ claims }: Databases, what: string | undefined): void {
  const key = utf8.encode(DAMAGE_KEY);
  if (what === undefined) claims.remove(key);
  else claims.put(key, encodeClaim({ pid: NO_PROCESS, ids: [], outcome: { value: what } }));
}

/** The damage that was found; undefined if there was none, or if a later check of the whole database found none. */
export function readDamage({ claims }: Databases): string | undefined {
  const bytes = claims.get(utf8.encode(DAMAGE_KEY));
  return bytes && (decodeClaim(bytes).outcome as { value: string }).value;
}
