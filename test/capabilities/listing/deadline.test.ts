import { suite } from 'uvu';
import { OBJECTS_QUERY, objectsAnswer } from '../../../src/capabilities/listing/listing_answer.ts';
import { OBJECTS_CURSOR } from '../../../src/core/answers/cursor.ts';
import { readCursor } from '../../../src/core/http/cursor.ts';
import { assertPages, withObjects } from '../../core/http/spent_time.ts';
import { LISTING } from './listing_query.ts';

const test = suite('listing/deadline');

test('a page of objects ends when half of its time is spent, and the next ones have the rest [The state after an entry]', () =>
  withObjects(stored => {
    for (const filters of [null, [['reliability_min', 0]]] as const)
      assertPages(stored, (cursor, context) => {
        const after = cursor === undefined ? null : readCursor(OBJECTS_CURSOR, cursor);
        return objectsAnswer({ kind: OBJECTS_QUERY, ...LISTING, filters, after }, context);
      });
  }));

test.run();
