/**
 * Runs commands that end by themselves in the process of the test, which takes a tenth of the time of a process of
 * their own. The interface is that of `e2e/support.ts`, by which `npm run test:system` runs commands as a user does.
 */
import { main } from '../../src/commands/main.ts';
import type { Finished } from '../e2e/support.ts';

/** Commands run one after another, because they share the streams of this process. */
let last: Promise<unknown> = Promise.resolve();

/** Runs `nearsky ARGS`. Nothing else may write to standard output or standard error meanwhile. */
export function start(
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
): { readonly finished: Promise<Finished> } {
  const finished = last.then(() => run(args, variables));
  last = finished.catch(() => {});
  return { finished };
}

async function run(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<Finished> {
  const environment = { ...process.env };
  Object.assign(process.env, variables);
  const written = { stdout: '', stderr: '' };
  const restore = (['stdout', 'stderr'] as const).map(stream => {
    const { write } = process[stream];
    process[stream].write = (text: string | Uint8Array) => {
      written[stream] += typeof text === 'string' ? text : new TextDecoder().decode(text);
      return true;
    };
    return () => {
      process[stream].write = write;
    };
  });
  try {
    const code = await main(args);
    return { code, signal: null, ...written };
  } finally {
    for (const each of restore) each();
    for (const name of Object.keys(variables)) delete process.env[name];
    Object.assign(process.env, environment);
  }
}

/** Runs `nearsky ARGS --json` and returns the document that it prints; throws unless it exits with 0. */
export async function nearsky(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await start([...args, '--json']).finished;
  if (code !== 0) throw new Error(`nearsky ${args.join(' ')} exited with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
