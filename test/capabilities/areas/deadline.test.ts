import { suite } from 'uvu';
import { AREA_QUERY, areaAnswer } from '../../../src/capabilities/areas/area_answer.ts';
import { AREA_CURSOR } from '../../../src/core/answers/cursor.ts';
import { readCursor } from '../../../src/core/http/cursor.ts';
import { assertPages, withObjects } from '../../core/http/spent_time.ts';
import { LISTING } from '../listing/listing_query.ts';

const test = suite('areas/deadline');

test('a page of an area ends when half of its time is spent, and the next ones have the rest [Areas; The state after an entry]', () =>
  withObjects(stored => {
    for (const filters of [null, [['reliability_min', 0]]] as const)
      assertPages(stored, (cursor, context) => {
        const after = cursor === undefined ? null : readCursor(AREA_CURSOR, cursor);
        return areaAnswer(
          {
            kind: AREA_QUERY,
            ...LISTING,
            area: Buffer.from('CIRCLE 150 2 0.001'),
            level: 0.9,
            digest: 'a',
            filters,
            after,
          },
          context,
        );
      });
  }));

test.run();
