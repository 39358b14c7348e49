/** A catalog whose ids are texts: its sources near a position. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellsOf, withNames } from '../../core/http/text_ids.ts';
import { OBJECTS } from '../crossmatch/text_ids.ts';

const test = suite('vo/text_ids');

test('the sources near a position', () =>
  withNames(async ({ fetch }) => {
    for (const [at, { ra, dec }] of OBJECTS.entries()) {
      const cone = await fetch(`/vo/scs/quasars?RA=${ra}&DEC=${dec}&SR=0.0003`);
      const cells = await cellsOf(cone, 'name');
      const expected = OBJECTS[at]!.source?.id;
      assert.ok(expected === undefined || cells.includes(expected), `${expected} is not among ${cells}`);
    }
  }));

test.run();
