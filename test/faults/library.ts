/** `faults.c`, compiled where there is a C compiler, and how a program is started with it. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** In the order of the library. */
export const KINDS = [
  'open',
  'read',
  'write',
  'sync',
  'truncate',
  'rename',
  'unlink',
  'mkdir',
  'mmap',
  'stat',
  'list',
  'lock',
  'chmod',
  'close',
  'malloc',
] as const;
export type Kind = (typeof KINDS)[number];

/** A call that must fail. */
export interface Fault {
  readonly kind: Kind;
  /** From 1, among the calls of its kind. */
  readonly nth: number;
  /** A name such as EIO, or `short` for fewer bytes than asked. */
  readonly error: string;
  /** Whether later calls fail, too. */
  readonly isLasting: boolean;
}

const directory = mkdtempSync(join(tmpdir(), 'nearsky-faults-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const library = join(directory, 'faults.so');

function compile(): string | undefined {
  if (process.platform !== 'linux') return 'faults are injected on Linux only';
  const source = fileURLToPath(new URL('faults.c', import.meta.url));
  const options = [
    '-O1',
    '-Wall',
    '-Wextra',
    '-Werror',
    '-shared',
    '-fPIC',
    '-o',
    library,
    source,
    '-ldl',
    '-lpthread',
  ];
  const { error, status, stderr } = spawnSync('cc', options, { encoding: 'utf8' });
  if (error) return 'there is no C compiler (cc)';
  if (status !== 0) throw new Error(`cc exited with ${status}: ${stderr}`);
  return undefined;
}

/** Why nothing can be injected here. */
export const obstacle = compile();

/** Variables that have a program's calls about paths under a directory counted, failed or recorded. */
export function preload(under: string, { fault, state = '', record = '' }: Preload): Record<string, string> {
  return {
    LD_PRELOAD: library,
    FAULTS_UNDER: under,
    FAULTS_STATE: state,
    FAULTS_RECORD: record,
    ...(fault && {
      FAULTS_KIND: fault.kind,
      FAULTS_NTH: String(fault.nth),
      FAULTS_ERROR: String(fault.error === 'short' ? 0 : constants.errno[fault.error as keyof typeof constants.errno]),
      FAULTS_LASTING: fault.isLasting ? '1' : '',
    }),
  };
}

export interface Preload {
  readonly fault?: Fault | undefined;
  /** Files outside the directory. */
  readonly state?: string;
  readonly record?: string;
}

export interface Calls {
  readonly counts: Readonly<Record<Kind, number>>;
  /** The number of failed calls. */
  readonly failed: number;
  /** The first call that was failed, and its path. */
  readonly what: string;
}

export function readCalls(state: string): Calls {
  const bytes = readFileSync(state);
  const counts = Object.fromEntries(KINDS.map((kind, i) => [kind, bytes.readUInt32LE(4 * i)])) as Record<Kind, number>;
  const failed = bytes.readUInt32LE(4 * KINDS.length);
  const what = bytes.toString('utf8', 4 * KINDS.length + 4).replace(/\0.*$/s, '');
  return { counts, failed, what };
}
