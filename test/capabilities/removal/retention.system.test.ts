/** NEARSKY_RETENTION_DAYS, as a user sets it. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { eventually, startServer, withDirectory } from '../../e2e/support.ts';
import { fill } from './old_objects.ts';

const test = suite('removal/retention as a user sets it');

test('serve removes old objects if the setting says so', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const store = openStore(data, 'write');
    await fill(new Writer(store));
    await store.close();
    const isStored = async (url: string, id: number) => {
      const { results } = (await (await fetch(`${url}/api/objects/${id}`)).json()) as { results: [{ status: string }] };
      return results[0].status !== 'not_in_service';
    };
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch'], {
      NEARSKY_RETENTION_DAYS: '30',
    });
    try {
      await eventually('the last one is removed', async () => !(await isStored(server.url, 0)) || undefined);
      assert.equal([await isStored(server.url, 2000), await isStored(server.url, 2001)], [true, true]);
    } finally {
      await server.stop();
    }
  }));

test.run();
