import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSnapshotCurrent, normalizeTnsName } from '../../src/tns/names.ts';

const test = suite('TNS names');

test('the ways of writing one name come to the same', () => {
  const written = [
    'SN 2026abc',
    'AT2026abc',
    '  at 2026abc ',
    'SN 2026 abc',
    '2026ABC',
    's\tn\n2026abc',
    '2026\u00a0abc',
  ];
  for (const name of written) assert.is(normalizeTnsName(name), '2026abc', JSON.stringify(name));
  assert.is(normalizeTnsName('sn2026A'), '2026a');
  assert.is(normalizeTnsName('20261'), '20261');
});

test('what is no designation is refused', () => {
  const refused = [
    '',
    '  ',
    'SN',
    'AT',
    '2026',
    '2026abc/x',
    'TDE 2026abc',
    'SNAT2026abc',
    '202abc',
    '2026-abc',
    '２０２６abc',
    '2026é',
  ];
  for (const name of refused) assert.is(normalizeTnsName(name), undefined, JSON.stringify(name));
});

test('at most 64 characters as they were sent, of whatever kind', () => {
  const longest = `2026${'a'.repeat(60)}`;
  assert.is(normalizeTnsName(longest), longest);
  assert.is(normalizeTnsName(`${longest}a`), undefined);
  assert.is(normalizeTnsName(`2026abc${' '.repeat(57)}`), '2026abc');
  assert.is(normalizeTnsName(`2026abc${' '.repeat(58)}`), undefined);
});

test('a snapshot is current up to its greatest age, inclusive', () => {
  const epochUs = 1_790_000_000_000_001;
  assert.is(isSnapshotCurrent(epochUs, epochUs + 7_200_000_000, 7200), true);
  assert.is(isSnapshotCurrent(epochUs, epochUs + 7_200_000_001, 7200), false);
  assert.is(isSnapshotCurrent(null, epochUs, 7200), false);
});

test.run();
