/** The messages of the stream, and their ids. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { messageId } from '../../src/stream/message.ts';
import { delivery, provenance, withStore } from '../store/support.ts';
import { addObjects, crossmatch, expected, FIRST_ID, messagesOf, textOf } from './support.ts';

const test = suite('stream/message');

test('the id is that of version 5 which Python makes of the same name', () => {
  // uuid.uuid5(uuid.UUID('6f1c0de2-3b7a-5e49-9d53-2f0a8c41b6d7'), '169760231713145019/1/gaia_dr3').hex
  const first = { diaObjectId: 169_760_231_713_145_019n, matchVersion: 1, catalogName: 'gaia_dr3' };
  assert.is(messageId(first).toString('hex'), 'a13e2b4db25b5c208b4ff3f4a75e515a');
  const last = { diaObjectId: 2n ** 63n - 1n, matchVersion: 12, catalogName: 'des_y6_gold' };
  assert.is(messageId(last).toString('hex'), '1c001fbbc50e5c28be57a4bd33e6dcaa');
});

test('a message a match, equal to an independent writer of the same', () =>
  withStore(async (store, writer) => {
    const ids = await addObjects(writer, 0, 60);
    const messages = messagesOf(store);
    let count = 0;
    for (const id of ids) {
      const written = messages.messages(id, 1);
      assert.equal(written.map(textOf), expected(store, store.getObject(id)!, 1));
      count += written.length;
      for (const message of written) {
        assert.is(message.diaObjectId, id);
        assert.is(JSON.parse(textOf(message)).catalog_name, message.catalogName);
      }
    }
    assert.is(count, 60 * 2);
    assert.equal(messages.messages(1n, 1), [], 'of an object that is not stored');
    assert.ok(textOf(messages.messages(ids[4]!, 1)[0]!).includes(`"big":${2n ** 62n + (ids[4]! % 1000n)}`));
  }));

test('each crossmatch says what it could not read', () =>
  withStore(async (store, writer) => {
    await writer.ingest([delivery(FIRST_ID)], 1_772_010_265_000_000);
    await writer.recordCrossmatches([crossmatch(FIRST_ID, 1, 'des_y6_gold')], provenance, 1);
    const next = { ...provenance, catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR4' }] };
    await writer.recordCrossmatches([crossmatch(FIRST_ID, 2)], next, 2);
    const messages = messagesOf(store);
    const object = store.getObject(FIRST_ID)!;
    for (const version of [1, 2]) {
      assert.equal(messages.messages(FIRST_ID, version).map(textOf), expected(store, object, version));
    }
    assert.match(textOf(messages.messages(FIRST_ID, 1)[0]!), '"catalogs_skipped":["des_y6_gold"],"partial":true');
    assert.is(messages.messages(FIRST_ID, 2).length, 2);
    const releaseOf = (version: number) =>
      JSON.parse(textOf(messages.messages(FIRST_ID, version).at(-1)!)).catalog_release;
    assert.equal([1, 2].map(releaseOf), ['Gaia DR3', 'Gaia DR4'], 'each has the release of its own crossmatch');
    const all = messages.messages(FIRST_ID, undefined);
    assert.equal(
      all.map(({ matchVersion }) => matchVersion),
      [1, 2, 2],
    );
    assert.equal(new Set(all.map(message => messageId(message).toString('hex'))).size, 3);
  }));

test.run();
