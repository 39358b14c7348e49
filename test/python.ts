/** Finds a Python with the modules that a test needs: TEST_PYTHON, else the system's. */
import { spawn, spawnSync } from 'node:child_process';

const PYTHONS = [process.env.TEST_PYTHON, '/usr/bin/python3', 'python3'].filter(each => each !== undefined);

/** Exits with 0 if all modules are found. Importing them would take a second. */
const FIND = 'import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))';
/** By the modules. */
const found = new Map<string, string | undefined>();

/** The first Python that has these modules, names with commas between. */
export function pythonWith(modules: string): string | undefined {
  if (!found.has(modules)) {
    const args = ['-c', FIND, ...modules.split(/, */)];
    found.set(
      modules,
      PYTHONS.find(each => spawnSync(each, args, { stdio: 'ignore' }).status === 0),
    );
  }
  return found.get(modules);
}

/** Why a test that needs these modules cannot run; undefined if it can. */
export function whyNoPython(modules: string): string | undefined {
  if (pythonWith(modules)) return undefined;
  return `there is no Python with ${modules}: pip install ${modules.replaceAll(',', '')}, and name it in TEST_PYTHON`;
}

export interface PythonOptions {
  readonly variables?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Milliseconds after which the program is killed. */
  readonly timeout?: number;
}

/**
 * Runs a Python program while this thread goes on, and returns the text that it printed. Throws unless it exits with 0.
 */
export async function runPython(
  python: string,
  args: readonly string[],
  { variables = {}, timeout = 300_000, ...where }: PythonOptions = {},
): Promise<string> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...variables };
  const child = spawn(python, args, { ...where, env, timeout, stdio: ['ignore', 'pipe', 'pipe'] });
  const out: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', chunk => out.push(chunk));
  child.stderr.on('data', chunk => errors.push(chunk));
  const status = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (status !== 0) throw new Error(`${python} ended with ${status}: ${Buffer.concat(errors)}`);
  return Buffer.concat(out).toString();
}
