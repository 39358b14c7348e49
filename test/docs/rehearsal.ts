/**
 * Runs a document as it is printed: each block of bash, in order, in one shell. The block of text below it is the
 * output. `…` stands for anything, alone on its line also for several lines.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { checkout, root, withDirectory } from '../e2e/support.ts';

export interface Rehearsal {
  readonly blocks: number;
  readonly limitMs: number;
  readonly variables?: Readonly<Record<string, string>>;
  /** Further commands for the blocks, by name: their paths. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Called with the directory of the blocks when they have ended, whatever their outcome. */
  end?(directory: string): void;
}

const patternOf = (text: string) =>
  new RegExp(
    `^${text
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/ +/g, ' +')
      .replace(/^…$/gm, '[^]*?')
      .replaceAll('…', '.*')}$`,
  );

const quoted = (words: readonly string[]) => words.map(word => `'${word}'`).join(' ');

/** @param document a path from the root; its blocks run in a new directory with `deploy` and `sample` */
export const rehearse = (document: string, { blocks, limitMs, variables, commands, end }: Rehearsal) =>
  withDirectory(async directory => {
    const printed = [
      ...readFileSync(join(root, document), 'utf8').matchAll(/^```bash\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms),
    ].map(([, code, prints = '']) => ({ code: code!, prints }));
    assert.is(printed.length, blocks);
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    const words = { nearsky: quoted([checkout.file, ...checkout.args]), ...commands };
    for (const [name, command] of Object.entries(words))
      writeFileSync(join(bin, name), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    // Deno makes links only where it may read and write everything.
    for (const name of ['deploy', 'sample']) execFileSync('ln', ['-s', join(root, name), join(directory, name)]);
    const script = printed.map(({ code }, i) => `${code}\nprintf '@%s@' ${i}\n`).join('');
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: directory,
      // A separate process group, to which the services of the blocks also belong.
      detached: true,
      env: { ...checkout.env, PATH: `${bin}:${process.env.PATH}`, NEARSKY_WORKERS: '1', ...variables },
    });
    const kill = () => process.kill(-child.pid!, 'SIGKILL');
    const timer = setTimeout(kill, limitMs);
    let out = '';
    let errors = '';
    child.stdout.on('data', data => (out += data));
    child.stderr.on('data', data => (errors += data));
    const closed = once(child, 'close');
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    try {
      kill();
    } catch {
      // All of the group have ended.
    }
    // Only then all output has arrived.
    await closed;
    end?.(directory);
    assert.is(code, 0, `${out}\n${errors}`);
    const outputs = out.split(/@\d+@/);
    for (const [i, { code, prints }] of printed.entries())
      assert.match(outputs[i]!, patternOf(prints), `${code}printed:\n${outputs[i]}`);
  });
