/** Records of objects in files: what is read equals what was added, in the same order. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RecordFiles, readRecords } from '../../../src/capabilities/hats/record_files.ts';
import { encodeObject, ObjectView } from '../../../src/core/store/object_record.ts';
import { decodeSourceValues, encodeSources } from '../../../src/core/store/records.ts';
import type { StoredObject } from '../../../src/core/store/types.ts';
import { failure } from '../../core/store/support.ts';
import { seededRandom } from '../../oracle/skies.ts';

const test = suite<{ directory: string }>('hats_export/record_files');

test.before.each(context => {
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
});

test.after.each(({ directory }) => rmSync(directory, { recursive: true }));

const NO_SOURCES = new Uint8Array(0);

/** An object with this number of matches, up to a million bytes. */
function objectOf(diaObjectId: bigint, matches: number, random: () => number): StoredObject {
  return {
    diaObjectId,
    position: { ra: 360 * random(), dec: 180 * random() - 90 },
    reliability: random(),
    ingestTimeUs: 1,
    eventTimeUs: 2,
    state: 'pending',
    brokers: ['lasair'],
    records: [],
    matches: Array.from({ length: matches }, (_, i) => ({
      matchVersion: 1,
      catalogName: 'gaia_dr3',
      catalogSourceId: `${i}`,
      separationArcsec: random(),
    })),
    tns: null,
  };
}

test('each file has its records, from small ones to ones larger than a chunk', ({ directory }) => {
  const random = seededRandom(5);
  const paths = Array.from({ length: 7 }, (_, i) => join(directory, `${i}`));
  const files = new RecordFiles(paths);
  const added: unknown[][] = paths.map(() => []);
  const view = new ObjectView();
  for (let i = 0; i < 3000; i++) {
    const id = i % 2 === 0 ? BigInt(i) : -(2n ** 63n) + BigInt(i);
    const matches = i % 500 === 3 ? 12_000 : Math.floor(4 * random());
    const object = objectOf(id, matches, random);
    view.load(id, encodeObject(object));
    const sources = object.matches.map(() => ({
      ra: random(),
      dec: null,
      payload: { mag: random(), id: 2n ** 63n - 1n },
    }));
    const bytes = i % 3 === 0 ? NO_SOURCES : encodeSources(sources, () => 1);
    // The last file gets nothing.
    const file = Math.floor(6 * random());
    files.add(file, view, bytes);
    added[file]!.push([object, bytes.length > 0 ? decodeSourceValues(bytes) : []]);
  }
  files.close();
  for (const [i, path] of paths.slice(0, 6).entries()) {
    const read = Array.from(readRecords(path, view), sources => [view.decode(), sources]);
    assert.equal(read, added[i]);
  }
  assert.not.ok(existsSync(paths[6]!));
});

test('a file that was cut is an error', async ({ directory }) => {
  const path = join(directory, 'records');
  const files = new RecordFiles([path]);
  const view = new ObjectView();
  view.load(1n, encodeObject(objectOf(1n, 3, seededRandom(1))));
  files.add(0, view, NO_SOURCES);
  files.close();
  writeFileSync(path, readFileSync(path).subarray(0, -1));
  assert.instance(await failure(() => [...readRecords(path, view)]), Error);
});

test.run();
