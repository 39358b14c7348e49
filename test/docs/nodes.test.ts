/** docs/nodes.md: every block runs as printed, in order, with Kafka itself, and prints what the page says. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { jars, whyNoKafka } from '../consume/kafka_server.ts';
import { checkout, root, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';

const test = suite('docs/nodes');
const LIMIT_MS = 600_000;

/** The blocks, each with what it prints. */
const blocks = [
  ...readFileSync(join(root, 'docs/nodes.md'), 'utf8').matchAll(/^```bash\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?/gms),
].map(([, code, prints = '']) => ({ code: code!, prints }));

/** `…` stands for anything, alone on its line also for several lines. */
const patternOf = (text: string) =>
  new RegExp(
    `^${text
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/ +/g, ' +')
      .replace(/^…$/gm, '[^]*?')
      .replaceAll('…', '.*')}$`,
  );

needs(test, whyNoKafka)('every block runs as printed', () =>
  withDirectory(async directory => {
    assert.is(blocks.length, 10);
    const bin = join(directory, 'bin');
    mkdirSync(bin);
    const words = [checkout.file, ...checkout.args].map(word => `'${word}'`).join(' ');
    writeFileSync(join(bin, 'nearsky'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
    // Deno makes links only where it may read and write everything.
    for (const name of ['deploy', 'sample']) execFileSync('ln', ['-s', join(root, name), join(directory, name)]);
    const script = blocks.map(({ code }, i) => `${code}\nprintf '@%s@' ${i}\n`).join('');
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: directory,
      // A group of its own, which has Kafka and the nodes, too.
      detached: true,
      env: {
        ...checkout.env,
        PATH: `${bin}:${process.env.PATH}`,
        KAFKA_LIBS: jars,
        KAFKA_MEMORY: '256m',
        NEARSKY_WORKERS: '1',
      },
    });
    const end = () => process.kill(-child.pid!, 'SIGKILL');
    const timer = setTimeout(end, LIMIT_MS);
    let printed = '';
    let errors = '';
    child.stdout.on('data', data => (printed += data));
    child.stderr.on('data', data => (errors += data));
    const [code] = await once(child, 'exit');
    clearTimeout(timer);
    try {
      end();
    } catch {
      // All of the group have ended.
    }
    assert.is(code, 0, `${printed}\n${errors}`);
    const outputs = printed.split(/@\d+@/);
    for (const [i, { code, prints }] of blocks.entries()) assert.match(outputs[i]!, patternOf(prints), code);
  }),
);

test.run();
