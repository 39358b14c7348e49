/** How the tests start programs of ours: under the runtime that runs the tests; under Deno with the permissions of a task of `deno.json`. */
import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeno } from '../src/core/base/runtime.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

export { isDeno };
/** The executable of Deno among the tools of the tests. */
export const deno = join(root, 'test/node_modules/deno/deno');

/** Permissions whose values are paths, which a task gives from the root of the checkout. */
const PATHS = /^--allow-(read|write|ffi|run)=/;

/**
 * The options of `deno run` in a task, paths made absolute.
 * @param data in the place of `data`, the data directory that tasks may write
 */
export function taskOptions(task: 'demo' | 'serve' | 'nearsky' | 'test', data = 'data'): string[] {
  const { tasks } = JSON.parse(readFileSync(join(root, 'deno.json'), 'utf8'));
  const words: string[] = tasks[task].split(' ');
  const afterRun = words.slice(words.indexOf('run') + 1);
  const options = afterRun.slice(
    0,
    afterRun.findIndex(word => !word.startsWith('--')),
  );
  return options.map(option => {
    const [name = '', values] = option.split('=');
    if (values === undefined || !PATHS.test(option)) return option;
    const absolute = (path: string) => (isAbsolute(path) || isProgram(name, path) ? path : join(root, path));
    const paths = values.split(',').map(path => absolute(path === 'data' ? data : path));
    return `${name}=${paths.join(',')}`;
  });
}

/** A program that is looked for on the PATH. */
function isProgram(option: string, path: string): boolean {
  return option === '--allow-run' && !path.includes('/');
}

/** The arguments of the runtime's executable before the script. */
export const runtimeArgs: readonly string[] = isDeno ? ['run', ...taskOptions('test')] : [];
