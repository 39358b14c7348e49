/** The messages of the stream, and their ids. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { messageId } from '../../../src/capabilities/streams/message.ts';
import { delivery, provenance, withStore } from '../../core/store/support.ts';
import { addObjects, crossmatch, expected, FIRST_ID, messagesOf, textOf } from './support.ts';

const test = suite('stream/message');

test('the id is that of version 5 which Python makes of the same name', () => {
  // uuid.uuid5(uuid.UUID('6f1c0de2-3b7a-5e49-9d53-2f0a8c41b6d7'), '169760231713145019/1/gaia_dr3/1790000000000000').hex
  const id = 169_760_231_713_145_019n;
  const first = { diaObjectId: id, matchVersion: 1, catalogName: 'gaia_dr3', ingestTimeUs: 1_790_000_000_000_000 };
  assert.is(messageId(first).toString('hex'), '185f2ed3475555c5b66a91936e6d5ed9');
  const last = { diaObjectId: 2n ** 63n - 1n, matchVersion: 12, catalogName: 'des_y6_gold', ingestTimeUs: 0 };
  assert.is(messageId(last).toString('hex'), '50e6bae90d17560292a366d4e103ef95');
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
      [2, 2],
      'without a version, those of the newest crossmatch',
    );
    const ids = [1, 2].flatMap(version => messages.messages(FIRST_ID, version).map(message => messageId(message)));
    assert.equal(new Set(ids.map(id => id.toString('hex'))).size, 3);
  }));

test('an object that was removed and is stored anew has other ids', () =>
  withStore(async (store, writer) => {
    const ids: string[] = [];
    for (const timeUs of [1_772_010_265_000_000, 1_772_010_266_000_000]) {
      await writer.ingest([delivery(FIRST_ID)], timeUs);
      await writer.recordCrossmatches([crossmatch(FIRST_ID, 1)], provenance, timeUs);
      const [message] = messagesOf(store).messages(FIRST_ID, 1);
      ids.push(messageId(message!).toString('hex'));
      await writer.remove([FIRST_ID], 'wrong');
    }
    assert.is(new Set(ids).size, 2);
  }));

test.run();
