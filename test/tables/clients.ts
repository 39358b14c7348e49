/** The programs that astronomers read tables with, where they are installed. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A virtual machine of Java's may take some seconds to start where much else runs. */
const TIMEOUT_MS = 120_000;
const PYTHONS = ['/usr/bin/python3', 'python3'];

function runs(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** Whether STILTS, TOPCAT's library, is there (Debian package stilts). */
export const hasStilts = runs('sh', ['-c', 'command -v stilts']);
/** A Python with astropy and pyvo (Debian packages python3-astropy, python3-pyvo); undefined where there is none. */
export const python = PYTHONS.find(each => runs(each, ['-c', 'import astropy, pyvo']));

export interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly errors: string;
}

/**
 * Runs a program to its end; this process goes on meanwhile, and may serve it.
 * @param input what it reads on its standard input
 */
export function run(command: string, args: readonly string[], input = ''): Promise<Ended> {
  const child = spawn(command, args, { timeout: TIMEOUT_MS });
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', chunk => out.push(chunk));
  child.stderr.on('data', chunk => errors.push(chunk));
  child.stdin.on('error', () => {});
  child.stdin.end(input);
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

/** What votlint has to say of a document: a line each, none where it is without fault. */
export async function votlint(document: string): Promise<string[]> {
  const args = ['votlint', 'validate=true', 'ucd=true', 'unit=true', 'votable=-'];
  const { out, errors } = await run('stilts', args, document);
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
