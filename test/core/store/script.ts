/** Scripts of the tests in processes of their own. */
import { spawn } from 'node:child_process';
import { runtimeArgs } from '../../runtime.ts';

/**
 * Starts a script in a process of its own, under the runtime of this one.
 * @param options.under a command that runs the command after it
 */
export function startScript(
  script: URL,
  args: readonly string[],
  { stdin = 'ignore', under = [] }: { readonly stdin?: 'ignore' | 'pipe'; readonly under?: readonly string[] } = {},
) {
  const [program, ...rest] = [...under, process.execPath, ...runtimeArgs, script.pathname, ...args];
  const child = spawn(program!, rest, { stdio: [stdin, 'pipe', 'inherit'] });
  let output = '';
  child.stdout?.on('data', data => {
    output += data;
  });
  const ended = new Promise<{ code: number | null; signal: string | null; output: string }>(resolve => {
    child.on('close', (code, signal) => resolve({ code, signal, output }));
  });
  return { child, ended, output: () => output };
}
