/** The messages of the stream, and their ids. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MatchMessages } from '../../src/answers/match_messages.ts';
import { ObjectMessages } from '../../src/answers/object_messages.ts';
import { SharedFragments } from '../../src/answers/shared_fragments.ts';
import { loadConfig } from '../../src/config/config.ts';
import { answerSettings } from '../../src/crossmatch/provenance.ts';
import { type MatchMessage, type MatchSource, messageId } from '../../src/stream/message.ts';
import { delivery, provenance, withStore } from '../store/support.ts';
import { addObjects, crossmatch, expected, FIRST_ID, messagesOf, textOf } from './support.ts';

const test = suite('stream/message');

test('the id is that of version 5 which Python makes of the same name', () => {
  // uuid.uuid5(uuid.UUID('6f1c0de2-3b7a-5e49-9d53-2f0a8c41b6d7'), '169760231713145019/1772010265000000/1/gaia_dr3').hex
  const timeUs = 1_772_010_265_000_000;
  const first = { diaObjectId: 169_760_231_713_145_019n, timeUs, matchVersion: 1, catalogName: 'gaia_dr3' };
  assert.is(messageId(first).toString('hex'), 'fb62a22ed2e15749bd851e54aa886f8d');
  const last = { diaObjectId: 2n ** 63n - 1n, timeUs: 0, matchVersion: 12, catalogName: 'des_y6_gold' };
  assert.is(messageId(last).toString('hex'), 'ba96fd5c1f3a5222b384aacf92d6a6e9');
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
    await writer.recordCrossmatches([crossmatch(FIRST_ID, 2)], provenance, 2);
    const messages = messagesOf(store);
    const object = store.getObject(FIRST_ID)!;
    for (const version of [1, 2]) {
      assert.equal(messages.messages(FIRST_ID, version).map(textOf), expected(store, object, version));
    }
    assert.match(textOf(messages.messages(FIRST_ID, 1)[0]!), '"catalogs_skipped":["des_y6_gold"],"partial":true');
    assert.is(messages.messages(FIRST_ID, 2).length, 2);
    const all = messages.messages(FIRST_ID, undefined);
    assert.equal(
      all.map(({ matchVersion }) => matchVersion),
      [1, 2, 2],
    );
    assert.equal(new Set(all.map(message => messageId(message).toString('hex'))).size, 3);
  }));

test('an object that is removed and delivered again has messages with other ids; an undone removal does not', () =>
  withStore(async (store, writer) => {
    const catalogs = new SharedFragments(answerSettings(loadConfig()));
    const kinds = [new MatchMessages(store, catalogs), new ObjectMessages(store, catalogs)];
    const timeUs = 1_772_010_265_000_000;
    const idsOf = (of: (source: MatchSource) => readonly MatchMessage[]) =>
      kinds.flatMap(source => of(source).map(message => messageId(message).toString('hex')));
    const storedAt = async (ingestTimeUs: number) => {
      await writer.ingest([delivery(FIRST_ID)], ingestTimeUs);
      await writer.recordCrossmatches([crossmatch(FIRST_ID, 2)], provenance, ingestTimeUs + 1);
      const ids = [0, 1].flatMap(version => idsOf(source => source.messages(FIRST_ID, version)));
      await writer.remove([FIRST_ID], 'wrong');
      const [removed] = [...store.changesAfter(store.lastSequence() - 1, 1)].flatMap(entry => entry.removed);
      return { ids, removed: idsOf(source => source.messages(FIRST_ID, -1, removed)) };
    };
    const first = await storedAt(timeUs);
    const again = await storedAt(timeUs + 9);
    const undone = await storedAt(timeUs);
    assert.equal([first.ids.length, first.removed.length], [4, 1]);
    assert.is(new Set([first, again].flatMap(({ ids, removed }) => [...ids, ...removed])).size, 10);
    assert.equal(undone.ids, first.ids);
    assert.is.not(undone.removed[0], first.removed[0]);
  }));

test.run();
