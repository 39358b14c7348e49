import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { searchedWords, separationText } from '../../../src/capabilities/objects/near_words.js';

const test = suite('objects/near_words');

const found = (count: number, ...outcomes: string[]) =>
  searchedWords({ count, catalogs: outcomes.map((outcome, i) => ({ catalog_name: `c${i}`, outcome })) }, '1″').found;

test('what was searched: a number only where a catalog was searched, and else the reason', () => {
  assert.is(found(0, 'searched', 'outside_footprint'), '0 catalog sources within 1″');
  assert.is(found(1, 'searched'), '1 catalog source within 1″');
  assert.is(found(0, 'outside_footprint', 'not_registered'), 'No catalog covers this position');
  assert.is(found(0, 'skipped_read_failure'), 'No catalog can be read now');
  assert.is(found(0, 'not_registered'), 'This service has no catalog yet');
  assert.is(found(0, 'outside_footprint', 'skipped_read_failure'), 'No catalog was searched here');
  const { outcomes } = searchedWords({ count: 0, catalogs: [{ catalog_name: 'a', outcome: 'searched' }] }, '1″');
  assert.equal([...outcomes], [['searched', ['a']]]);
});

test('no separation beyond the radius seems to lie within it', () => {
  assert.is(separationText(1.0005, 1), '1.0005');
  assert.is(separationText(1.006, 1), '1.01');
  assert.is(separationText(1.5004, 1.5), '1.5004');
  assert.is(separationText(0.9996, 1), '1.00');
  assert.is(separationText(0.0123, 1), '0.012');
  assert.is(separationText(2.3456), '2.35');
});

test.run();
