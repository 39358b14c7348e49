/** Archives as tables of objects, and of catalogs that are not registered. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import type { StoredObject } from '../../../src/core/store/types.ts';
import { nearsky } from '../../commands/in_process.ts';
import { fillSky } from '../../core/store/filled_sky.ts';
import { delivery, provenance, result, withStore } from '../../core/store/support.ts';

const test = suite('hats/round_trip');

async function stored(data: string): Promise<StoredObject[]> {
  const store = openStore(data, 'read');
  const objects = [...store.objects()];
  await store.close();
  return objects;
}

const places = (objects: readonly StoredObject[]) =>
  objects.map(({ diaObjectId, position }) => [diaObjectId, position]);

test('the archive of another service gives the same objects', () =>
  withStore(async (store, writer, data) => {
    await fillSky(writer, 300);
    const archive = join(data, 'archive');
    await nearsky('export', '--data', data, '--format', 'hats', archive);
    const copy = join(data, 'copy');
    const columns = ['--id', 'diaObjectId', '--ra', 'ra', '--dec', 'dec'];
    await nearsky('ingest', '--data', copy, '--table', join(archive, 'objects'), ...columns);
    await nearsky('ingest', '--data', copy, '--table', join(archive, 'objects_without_position.parquet'), ...columns);
    assert.equal(places(await stored(copy)), places([...store.objects()]));
  }));

test('matches with a catalog that is not registered are exported', () =>
  withStore(async (_, writer, data) => {
    await writer.ingest([delivery(1n)], 1000);
    const source = { ra: 1, dec: 2, payload: { mag: 15 } };
    const matches = [{ catalogName: 'mine', catalogSourceId: '7', separationArcsec: 0.1, source }];
    await writer.recordCrossmatches([{ ...result(1n), matches }], provenance, 2000);
    await nearsky('export', '--data', data, '--format', 'hats', join(data, 'archive'));
  }));

test.run();
