/** The demo in a directory that its user names. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { start, startServer, withDirectory } from '../../e2e/support.ts';

const test = suite('demo/kept');

test('a directory that was named is kept, and is not filled again', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const demo = await startServer(['demo', '--port', '0', '--data', data]);
    await demo.stop();
    assert.ok(readdirSync(data).includes('nearsky.mdb'));
    const again = await start(['demo', '--port', '0', '--data', data]).finished;
    assert.is(again.code, 1);
    assert.match(again.stderr, /is not empty/);
  }));

test.run();
