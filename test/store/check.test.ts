/**
 * A damaged byte or page is either harmless to an export, or detected. TEST_DAMAGES sets the number of trials (60).
 */
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, rmSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkDirectory } from '../../src/store/check.ts';
import { encodeKey, encodePlain } from '../../src/store/records.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import type { Writer } from '../../src/store/writer.ts';
import { startScript } from './script.ts';
import { delivery, failure, provenance, recounted, result, withStore } from './support.ts';

const test = suite('store/check');

const DAMAGES = Number(process.env.TEST_DAMAGES ?? 60);
const PAGE_BYTES = 4096;
const script = new URL('check_process.ts', import.meta.url);
const quietly = () => {};

async function fill(_store: Store, writer: Writer): Promise<void> {
  const ids = Array.from({ length: 900 }, (_, i) => BigInt(i * 7919));
  for (let from = 0; from < ids.length; from += 300) {
    const some = ids.slice(from, from + 300);
    await writer.ingest(
      some.map((id, i) => delivery(id, { eventTimeUs: 1e15 + i })),
      1.7e15 + from,
    );
    const source = { ra: 1, dec: 2, payload: { parallax: 0.5, text: 'x'.repeat(100) } };
    const results = some.filter((_, i) => i % 5).map((id, i) => result(id, i % 2 ? [source] : []));
    await writer.recordCrossmatches(results, provenance, 1.71e15);
  }
  const load = await writer.beginRegistry();
  const names = Array.from({ length: 200 }, (_, objid) => ({ objid, name: `2026a${objid}`, namePrefix: 'AT' }));
  const rest = { ra: 1, dec: 2, classification: null, redshift: null };
  await writer.stageRegistry(
    load,
    names.map(name => ({ ...name, ...rest })),
  );
  await writer.publishRegistry(load, 1.7e15);
}

test('a whole database has no faults, beside a writer too', () =>
  withStore(async (store, writer, directory) => {
    await fill(store, writer);
    assert.equal(store.counts(), recounted(store));
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
