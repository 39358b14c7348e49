/** What `nearsky cone` and `nearsky lookup` print of a service that has no search for the catalogs' sources. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NOT_SEARCHED, sourcesThere } from '../../src/capabilities/objects/sources_there.ts';
import { CAPABILITIES } from '../../src/capabilities.ts';
import { inProcess } from '../../src/core/in_process.ts';
import { openStore } from '../../src/core/store/store.ts';
import { configWith } from '../capabilities.ts';
import { withDirectory } from '../directory.ts';

const test = suite('commands/sources_there');

test('it says so instead of nothing', () =>
  withDirectory(async directory => {
    await openStore(directory, 'write').close();
    const rest = CAPABILITIES.filter(({ name }) => name !== 'sources');
    await inProcess(rest)(configWith({ NEARSKY_DATA: directory }), async ask => {
      assert.is(await sourcesThere(ask, { ra: '1', dec: '1' }, '1'), NOT_SEARCHED);
    });
  }));

test.run();
