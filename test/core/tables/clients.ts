/** The programs with which astronomers read tables, if they are installed. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pythonWith } from '../../python.ts';

/** A virtual machine of Java's may take some seconds to start where much else runs. */
const TIMEOUT_MS = 120_000;

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Whether STILTS, TOPCAT's library, is installed (Debian package stilts). */
export const hasStilts = runs('sh', ['-c', 'command -v stilts']);
/** A Python with astropy and pyvo (Debian packages python3-astropy, python3-pyvo); undefined if there is none. */
export const python = pythonWith('astropy, pyvo');

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly errors: string;
}

/** @param input what the program reads on its standard input */
export function run(command: string, args: readonly string[], input = ''): Ended {
  const { status, stdout, stderr, error } = spawnSync(command, args, { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (error) throw error;
  return { status, out: stdout, errors: stderr };
}

/** Like `run`, but this process goes on, and may serve the program. */
export function runBeside(command: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(command, args, { timeout: TIMEOUT_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', chunk => out.push(chunk));
  child.stderr.on('data', chunk => errors.push(chunk));
  const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString();
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', status => resolve({ status, out: text(out), errors: text(errors) }));
  });
}

/** Runs with a folder that is gone afterwards. */
export async function withFolder<T>(work: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'nearsky-tables-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The faults that votlint finds in a document, one line each. */
export function votlint(document: string): string[] {
  const { out, errors } = run('stilts', ['votlint', 'validate=true', 'ucd=true', 'unit=true', 'votable=-'], document);
  return `${out}${errors}`.split('\n').filter(line => line !== '');
}

/** Each named text as a file of a folder; their paths. */
export function writeFiles(folder: string, texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).map(([name, text]) => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  });
}
