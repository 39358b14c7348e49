/** What a check of a data directory finds. */
import { copyFileSync, mkdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkDirectory } from '../../../src/capabilities/status/check.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { encodeKey, encodePlain } from '../../../src/core/store/records.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { delivery, failure, fill, provenance, recounted, result, withStore } from './support.ts';

const test = suite('store/check');

const PAGE_BYTES = 4096;
const quietly = () => {};

test('a whole database has no faults, beside a writer too', () =>
  withStore(async (store, writer, directory) => {
    await fill(store, writer);
    assert.equal(readCounts(store.databases), recounted(store));
    const { faults, objects } = await checkDirectory(directory, quietly);
    assert.equal([faults, objects], [[], 900]);
    const writing = writer.ingest([delivery(1n)], 1.8e15);
    assert.equal((await checkDirectory(directory, quietly)).faults, []);
    await writing;
  }));

test('a former record that is damaged, or of an entry that is not in the journal', () =>
  withStore(async (store, writer, directory) => {
    await writer.keepHistory(true);
    await fill(store, writer);
    const { history } = store.databases;
    assert.equal((await checkDirectory(directory, quietly)).faults, []);
    const recorded = [...history.getKeys()].find(key => history.get(key)!.length > 0)!;
    const later = Buffer.concat([recorded.subarray(0, 8), encodeKey(100n)]);
    history.transactionSync(() => {
      history.put(recorded, encodePlain('another value'));
      history.put(later, new Uint8Array(0));
    });
    const { faults } = await checkDirectory(directory, quietly);
    assert.is(faults.length, 2);
    assert.match(faults[0]!, /^object \d+ before entry \d of the journal: Cannot decode object/);
    assert.match(faults[1]!, /^object \d+ before entry 100 of the journal: there is no such entry$/);
  }));

test('two sources of an object whose ids differ in bytes that are no characters', () =>
  withStore(async (_store, writer, directory) => {
    await writer.ingest([delivery(1n)], 1.7e15);
    const source = { ra: 1, dec: 2, payload: null };
    const { matches, ...found } = result(1n, [source, source]);
    const renamed = matches.map((match, i) => ({ ...match, catalogSourceId: `${128 + i}` }));
    await writer.recordCrossmatches([{ ...found, matches: renamed }], provenance, 1.71e15);
    assert.equal((await checkDirectory(directory, quietly)).faults, []);
  }));

test('what belongs together and does not agree is named', () =>
  withStore(async (store, writer, directory) => {
    await fill(store, writer);
    const { meta, objects, pending, unread, recent_event, objects_by_ingest, matches_by_source } = store.databases;
    const someKey = [...pending.getKeys()][0]!;
    const unreadKey = [...unread.getKeys()][0]!;
    const recent = [...recent_event.getKeys()][0]!;
    const source = [...matches_by_source.getKeys()][0]!;
    meta.transactionSync(() => {
      objects.put(someKey, pending.get(someKey)!);
      pending.remove(someKey);
      unread.remove(unreadKey);
      recent_event.remove(recent);
      objects_by_ingest.remove([...objects_by_ingest.getKeys()][0]!);
      matches_by_source.remove(source);
      meta.put(new TextEncoder().encode('counts'), encodePlain({}));
    });
    const { faults } = await checkDirectory(directory, quietly);
    for (const said of [
      /it is pending, but in the table objects/,
      /catalog that could not be read/,
      /objects with matches and the listing by event time/,
      /the objects and the listing by ingest time/,
      /listing by source/,
      /counts do not match/,
    ]) {
      assert.ok(
        faults.some(fault => said.test(fault)),
        `${said} in ${faults.join('; ')}`,
      );
    }
  }));

test('a file that was cut short is a message', () =>
  withStore(async (store, writer, directory) => {
    await fill(store, writer);
    const copy = join(directory, 'copy');
    mkdirSync(copy);
    copyFileSync(join(directory, 'nearsky.mdb'), join(copy, 'nearsky.mdb'));
    truncateSync(join(copy, 'nearsky.mdb'), 40 * PAGE_BYTES);
    const { faults } = await checkDirectory(copy, quietly);
    assert.match(faults.join('\n'), /truncated/);
    assert.match((await failure(() => openStore(copy, 'read'))).message, /truncated.*restore a backup/);
  }));

test.run();
