/** Matches with a catalog whose ids are texts, in the stream. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IDS, withNames } from '../../core/http/text_ids.ts';
import { messagesOf } from './support.ts';

const test = suite('streams/text_ids');

test('the messages have the ids', () =>
  withNames(async ({ world, ids }) => {
    const messages = messagesOf(world.store);
    const streamed = ids.flatMap(id =>
      messages.messages(id, 1).map(({ value }) => JSON.parse(`${Buffer.from(value)}`)),
    );
    assert.equal(
      streamed.map(({ catalog_source_id }) => catalog_source_id),
      IDS,
    );
  }));

test.run();
