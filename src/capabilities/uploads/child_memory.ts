/**
 * Bounds the memory of all child processes of a service together. While one of them works, their anonymous memory is
 * read ten times a second. Only Linux reports it; elsewhere there is no bound.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from '../../core/base/log.ts';
import { Unavailable } from '../../core/base/refusal.ts';

/** A child process whose memory counts. */
export interface Member {
  /** Undefined once it was ended. */
  readonly pid: number | undefined;
  /** Whether the process is working, or was a moment ago. */
  readonly isBusy: boolean;
  /**
   * Ends the process to free its memory. Idle processes come first, then busy ones; within each group, the largest
   * comes first.
   * @param mib its memory
   * @param isAlone whether no other process works or has much memory
   * @returns false if the process continues
   */
  readonly end: (mib: number, isAlone: boolean) => boolean;
}

/** The process was ended because all child processes together had too much memory. */
export class MemoryTaken extends Unavailable {
  /** Whether no other process worked or had much memory. */
  readonly isAlone: boolean;

  constructor(isAlone: boolean) {
    super('other tables and queries have taken the memory that this one needs');
    this.isAlone = isAlone;
  }
}

const INTERVAL_MS = 100;
/** An idle process that uses less than this, MiB, is worth keeping. */
export const IDLE_MIB = 128;

/**
 * For each line of process ids, prints a line of `ID:KIB`. A shell reads /proc because Deno denies it to programs.
 * Anonymous memory is resident memory that is not shared. Processes for which the system reports no shared memory are
 * skipped. The shell starts no other program.
 */
const READS = `kib=4
while read -r name value _; do case $name in KernelPageSize:) kib=$value; break;; esac; done </proc/self/smaps
while read -r pids; do
  line=
  for pid in $pids; do
    read -r _ resident shared _ </proc/$pid/statm && [ "$shared" -gt 0 ] && line="$line $pid:$(((resident - shared) * kib))"
  done
  echo "$line"
done`;

export class ChildMemory {
  readonly #maxMib: number;
  readonly #log: Log;
  readonly #members = new Set<Member>();
  readonly #works = new Set<object>();
  #shell: ChildProcess | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(maxMib: number, log: Log) {
    this.#maxMib = maxMib;
    this.#log = log;
  }

  /** Counts the memory of a process until it has ended. */
  add(member: Member, child: ChildProcess): void {
    this.#members.add(member);
    child.once('exit', () => this.#members.delete(member));
    child.once('error', () => this.#members.delete(member));
  }

  /** Call this when a process begins to work, and the returned function when the work is over. */
  watch(): () => void {
    const work = {};
    this.#works.add(work);
    this.#wait();
    return () => void this.#works.delete(work);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#works.clear();
    this.#shell?.kill('SIGKILL');
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => {
      if (this.#works.size > 0) this.#look();
      else this.#timer = undefined;
    }, INTERVAL_MS).unref();
  }

  #look(): void {
    if (process.platform !== 'linux') return;
    const pids = [...this.#members].flatMap(({ pid }) => pid ?? []);
    try {
      this.#shell ??= this.#start();
      this.#shell.stdin!.write(`${pids.join(' ')}\n`);
    } catch {
      // Deno may not allow a shell. Then there is no memory limit.
    }
  }

  #start(): ChildProcess {
    const shell = spawn('/bin/sh', ['-c', READS], { stdio: ['pipe', 'pipe', 'ignore'] });
    const ended = () => {
      if (this.#shell !== shell) return;
      this.#shell = undefined;
      this.#timer = undefined;
      this.#wait();
    };
    shell.on('error', ended);
    shell.on('exit', ended);
    shell.stdin.on('error', () => {});
    createInterface({ input: shell.stdout }).on('line', line => {
      const mib = new Map(line.split(' ').map(each => each.split(':').map(Number) as [number, number]));
      this.#bound(pid => (mib.get(pid) ?? 0) / 1024);
      this.#timer = undefined;
      this.#wait();
    });
    shell.unref();
    for (const stream of [shell.stdin, shell.stdout]) (stream as { unref?: () => void }).unref?.();
    return shell;
  }

  #bound(mibOf: (pid: number) => number): void {
    const members = [...this.#members].flatMap(member =>
      member.pid === undefined ? [] : { member, mib: mibOf(member.pid), isBusy: member.isBusy },
    );
    const sum = members.reduce((total, { mib }) => total + mib, 0);
    const busy = members.filter(({ isBusy }) => isBusy).length;
    let excess = sum - this.#maxMib;
    members.sort((a, b) => Number(a.isBusy) - Number(b.isBusy) || b.mib - a.mib);
    for (const { member, mib, isBusy } of members) {
      if (excess <= 0) return;
      const othersMib = this.#maxMib + excess - mib;
      if (!member.end(mib, isBusy && busy === 1 && othersMib < IDLE_MIB)) continue;
      excess -= mib;
      if (isBusy) this.#log('reading_process_ended', { mib: Math.round(mib), all_mib: Math.round(sum) });
    }
  }
}
