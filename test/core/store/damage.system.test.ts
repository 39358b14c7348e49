/**
 * A damaged byte or page is either harmless to an export, or detected. TEST_DAMAGES sets the number of trials (60).
 */
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startScript } from './script.ts';
import { fill, withStore } from './support.ts';

const test = suite('store/damage');

const DAMAGES = Number(process.env.TEST_DAMAGES ?? 60);
const PAGE_BYTES = 4096;
const script = new URL('check_process.ts', import.meta.url);

test('a byte or a page that is damaged', () =>
  withStore(async (store, writer, directory) => {
    await fill(store, writer);
    const file = join(directory, 'nearsky.mdb');
    const whole = readFileSync(file);
    const pages = Math.floor(whole.length / PAGE_BYTES);
    const copy = join(directory, 'copy');
    const run = async () => {
      const { code, signal, output } = await startScript(script, [copy]).ended;
      return { status: signal ?? code, ...(output ? JSON.parse(output) : {}) };
    };
    const begin = () => {
      rmSync(copy, { recursive: true, force: true });
      mkdirSync(copy);
      copyFileSync(file, join(copy, 'nearsky.mdb'));
      return openSync(join(copy, 'nearsky.mdb'), 'r+');
    };
    closeSync(begin());
    const sound = await run();
    assert.equal([sound.status, sound.faults], [0, 0]);
    let found = 0;
    for (let i = 0; i < DAMAGES; i++) {
      const page = Math.floor((i + 0.5) * (pages / DAMAGES));
      const descriptor = begin();
      const at = page * PAGE_BYTES + ((i * 1663) % PAGE_BYTES);
      if (i % 3 === 0) writeSync(descriptor, Buffer.alloc(PAGE_BYTES, i), 0, PAGE_BYTES, page * PAGE_BYTES);
      else writeSync(descriptor, Uint8Array.of(whole[at]! ^ (1 << (i % 8))), 0, 1, at);
      closeSync(descriptor);
      const { status, faults, digest } = await run();
      assert.is(status, 0, `damage ${i} at ${at} ends in words`);
      if (faults > 0) found++;
      else assert.is(digest, sound.digest, `damage ${i} at ${at} is found or harmless`);
    }
    assert.ok(found > DAMAGES / 5, `${found} of ${DAMAGES} were found`);
  }));

test.run();
