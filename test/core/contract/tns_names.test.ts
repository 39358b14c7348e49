import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSnapshotCurrent, parseTnsName } from '../../../src/core/contract/tns_names.ts';

const test = suite('TNS names');

const nameOf = (text: string) => parseTnsName(text)?.name;

test('the ways of writing one name come to the same [Registry names]', () => {
  const written = [
    'SN 2026abc',
    'AT2026abc',
    '  at 2026abc ',
    'SN 2026 abc',
    '2026ABC',
    's\tn\n2026abc',
    '2026\u00a0abc',
  ];
  for (const name of written) assert.is(nameOf(name), '2026abc', JSON.stringify(name));
  assert.is(nameOf('sn2026A'), '2026a');
  assert.is(nameOf('20261'), '20261');
});

test('a prefix that belongs to an object is kept, SN and AT are dropped', () => {
  assert.equal(parseTnsName('FRB 20121102A'), { name: '20121102a', prefix: 'FRB' });
  assert.equal(parseTnsName('tde2026abc'), { name: '2026abc', prefix: 'TDE' });
  for (const name of ['SN 2026abc', 'AT 2026abc', '2026abc'])
    assert.equal(parseTnsName(name), { name: '2026abc', prefix: null });
});

test('what is no designation is refused', () => {
  const refused = [
    '',
    '  ',
    'SN',
    'AT',
    '2026',
    '2026abc/x',
    'ZTF 2026abc',
    'SNFRB2026abc',
    'SNAT2026abc',
    '202abc',
    '2026-abc',
    '２０２６abc',
    '2026é',
  ];
  for (const name of refused) assert.is(nameOf(name), undefined, JSON.stringify(name));
});

test('at most 64 characters as they were sent, of whatever kind [Settings and limits]', () => {
  const longest = `2026${'a'.repeat(60)}`;
  assert.is(nameOf(longest), longest);
  assert.is(nameOf(`${longest}a`), undefined);
  assert.is(nameOf(`2026abc${' '.repeat(57)}`), '2026abc');
  assert.is(nameOf(`2026abc${' '.repeat(58)}`), undefined);
});

test('a snapshot is current up to its greatest age, inclusive', () => {
  const epochUs = 1_790_000_000_000_001;
  assert.is(isSnapshotCurrent(epochUs, epochUs + 7_200_000_000, 7200), true);
  assert.is(isSnapshotCurrent(epochUs, epochUs + 7_200_000_001, 7200), false);
  assert.is(isSnapshotCurrent(null, epochUs, 7200), false);
});

test.run();
