/**
 * Builds the single executable: Node itself, with the files that `bundle.ts` collects inside (Node's "single executable
 * applications").
 *
 *   node src/binary/build.ts [FILE]        FILE is build/nearsky by default
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { programFile } from '../core/base/program_files.ts';
import { isDeno } from '../core/base/runtime.ts';
import { loadConfig } from '../core/config/config.ts';
import { writeBundle, writeLauncher } from './bundle.ts';
import { CONTENTS } from './unpack.ts';

const run = promisify(execFile);

/** The name under which Node finds the executable's contents (see Node, Single executable applications). */
const RESOURCE = 'NODE_SEA_BLOB';
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';

/** Writes the executable for this system, based on the Node that runs this script. */
export async function buildBinary(file: string): Promise<void> {
  if (isDeno || process.platform !== 'linux')
    throw new Error('Cannot build the executable here: it must be built by Node on Linux');
  mkdirSync(dirname(file), { recursive: true });
  const work = mkdtempSync(`${file}.`);
  try {
    const executable = join(work, 'nearsky');
    copyFileSync(process.execPath, executable);
    chmodSync(executable, 0o755);
    await strip(executable);
    const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js');
    await run(process.execPath, [postject, executable, RESOURCE, await writeBlob(work), '--sentinel-fuse', FUSE]);
    renameSync(executable, file);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The contents of the executable, in the format that Node reads. */
async function writeBlob(work: string): Promise<string> {
  const [launcher, contents, settings, blob] = ['launcher.cjs', CONTENTS, 'sea.json', 'blob'].map(name =>
    join(work, name),
  );
  const files = join(work, 'files');
  await writeLauncher(launcher!);
  const paths = await writeBundle(files);
  const digest = createHash('sha256');
  for (const path of paths) {
    const bytes = readFileSync(join(files, path));
    digest.update(`${path} ${bytes.length}\n`).update(bytes);
  }
  const name = `${loadConfig().APP_VERSION}-${digest.digest('hex').slice(0, 16)}`;
  writeFileSync(contents!, JSON.stringify({ name, paths }));
  const assets = { [CONTENTS]: contents, ...Object.fromEntries(paths.map(path => [path, join(files, path)])) };
  const config = { main: launcher, output: blob, disableExperimentalSEAWarning: true, assets };
  writeFileSync(settings!, JSON.stringify(config));
  await run(process.execPath, ['--experimental-sea-config', settings!]);
  return blob!;
}

/** Removes Node's own debug symbols, which are a seventh of the executable. Without binutils they stay. */
async function strip(executable: string): Promise<void> {
  try {
    await run('strip', [executable]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The milliseconds from the start of `serve` with an empty data directory until it can answer. */
async function timeToServe(file: string, directory: string): Promise<number> {
  const startedMs = performance.now();
  const args = ['serve', '--port', '0', '--data', join(directory, 'data')];
  const env = { NEARSKY_CACHE_DIR: join(directory, 'cache') };
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) if (line.startsWith('listening on')) break;
  const tookMs = performance.now() - startedMs;
  child.kill();
  await ended;
  return tookMs;
}

async function main(): Promise<void> {
  const file = resolve(process.argv[2] ?? join(dirname(programFile('package.json')), 'build/nearsky'));
  await buildBinary(file);
  const directory = mkdtempSync(`${file}.`);
  try {
    const [first, next] = [await timeToServe(file, directory), await timeToServe(file, directory)];
    const sizeMb = (statSync(file).size / 1e6).toFixed(0);
    const [firstMs, nextMs] = [first, next].map(ms => ms.toFixed(0));
    console.log(
      `${file}: ${sizeMb} MB; answers ${firstMs} ms after the first start, which unpacks the program, and ${nextMs} ms after the next`,
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (import.meta.main) await main();
