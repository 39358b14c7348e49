/** Lists as people paste them: each line is understood, or refused in words that say what to do. */
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  inHours,
  listLooksLikeHours,
  parseSearchList,
  tableOfList,
} from '../../../src/capabilities/objects/search_text.js';
import { AT, DEC, ID, LISTS, RA } from './lists.ts';

const test = suite('capabilities/objects/pasted_lists');

test('each is understood, or refused with what to do', () => {
  assert.ok(LISTS.length >= 30);
  for (const [from, pasted, ...expected] of LISTS) {
    const entries = parseSearchList(pasted);
    const shown = `${from}: ${JSON.stringify(entries)}`;
    assert.is(entries.length, expected.length, shown);
    entries.forEach(({ search, label }, i) => {
      const wanted = expected[i]!;
      if (wanted instanceof RegExp) {
        assert.is(search.kind, 'unclear', shown);
        assert.match(search.kind === 'unclear' ? search.reason : '', wanted, shown);
      } else if (search.kind === 'position') {
        assert.is([AT, label].filter(Boolean).join(' '), wanted, shown);
        assert.ok(separationArcsec(search.ra, search.dec, RA, DEC) < 1, shown);
      } else assert.is(search.kind === 'id' ? search.id : search.kind === 'tns' ? search.name : '?', wanted, shown);
    });
  }
});

test('decimal right ascensions that look like hours, and the list in hours', () => {
  const lines = Array.from({ length: 12 }, (_, i) => `SN 2026ub${'abcdefghijkl'[i]} ${1.9 * i} ${6 * i - 40}`);
  const list = lines.join('\n');
  const entries = parseSearchList(list);
  assert.ok(listLooksLikeHours(entries));
  assert.not(listLooksLikeHours(entries.slice(0, 5)));
  const read = inHours(entries);
  assert.not(listLooksLikeHours(read));
  read.forEach(({ search, label }, i) => {
    assert.ok(search.kind === 'position' && Math.abs(search.ra - 15 * 1.9 * i) < 1e-9, label);
  });
  assert.match(tableOfList(list, 'h')!, ',"SN 2026ubc",57,-28\n');
  // Positions that state their unit stay.
  const mixed = inHours(parseSearchList('12:34:56.7 -01:02:03\n188.73625d -1.034167d\n12.582416 -1.034167\n188.7 -1'));
  assert.equal(
    mixed.map(({ search }) =>
      search.kind === 'position' ? separationArcsec(search.ra, search.dec, RA, DEC) < 1 : search.kind,
    ),
    [true, true, true, 'unclear'],
  );
});

test('the table of a list has the entries of the list', () => {
  for (const [from, pasted] of LISTS) {
    const lines = tableOfList(pasted)?.trimEnd().split('\n').slice(1);
    if (lines === undefined) continue;
    const entries = parseSearchList(pasted);
    // A line of column names is no row.
    const rows = lines.length < entries.length ? entries.slice(1) : entries;
    assert.equal(
      lines.map(line =>
        /^(\d*),(?:"(.*)")?,(.*),(.*)$/
          .exec(line)!
          .slice(1)
          .map(cell => cell ?? ''),
      ),
      rows.map(({ typed, search, label }) => {
        if (search.kind === 'position') return ['', label ?? '', `${search.ra}`, `${search.dec}`];
        return search.kind === 'id' ? [search.id, '', '', ''] : ['', typed.replaceAll('"', '""'), '', ''];
      }),
      from,
    );
  }
});

test('a list becomes a table, and a table stays one', () => {
  const table = (text: string) => tableOfList(text)?.trimEnd().split('\n').slice(1);
  assert.equal(table('SN 2026ubc 10.5 -20.25'), [',"SN 2026ubc",10.5,-20.25']);
  assert.equal(table(`${ID}\nSN 2026ubc\n10.5 -20.25\nwhat "is" this`), [
    `${ID},,,`,
    ',"SN 2026ubc",,',
    ',,10.5,-20.25',
    ',"what ""is"" this",,',
  ]);
  assert.equal(table('Name RA Dec\nSN 2026ubc 10.5 -20.25'), [',"SN 2026ubc",10.5,-20.25'], 'a name of two words');
  assert.equal(table('\\hline\nName & RA & Dec \\\\\nSN~2026ubc & 10.5 & $-$20.25 \\\\'), [
    ',"SN 2026ubc",10.5,-20.25',
  ]);
  assert.equal(table(`# my list\n${ID}`), [`${ID},,,`]);
  assert.equal(table('M31\nSN 2026ubc'), [',"M31",,', ',"SN 2026ubc",,'], 'no line is lost');
  for (const text of [
    'name,ra,dec\na,10.5,-20.25',
    'ra dec\n10.5 -20.25',
    'diaObjectId\n170028513894596704',
    '"ID","Name","RA"\n"1","SN 2026ubc, a","12:34:56.7 -01:02:03"',
    'id\tra\tdec\n1\t12:34:56.7\t-01:02:03',
    '<VOTABLE>',
    '{"ra": 1}',
    '',
  ])
    assert.is(tableOfList(text), undefined, text);
});

test('a name of a word and a number is a label, before a position or after it', () => {
  for (const text of ['NGC 253 11.888 -25.288', 'NGC 253, 11.888, -25.288', '11.888 -25.288 NGC 253'])
    assert.equal(
      parseSearchList(text).map(({ label }) => label),
      ['NGC 253'],
    );
});

test('a long line is a list of ids and names, and of nothing else', () => {
  const kinds = (text: string) => parseSearchList(text).map(({ search: { kind } }) => kind);
  const ids = kinds(`${ID}, `.repeat(3000));
  assert.is(ids.length, 3000);
  assert.equal([...new Set(ids)], ['id']);
  // Their time grew with the square of their length: this would take hours.
  for (const [kind, from, between, to] of [
    ['position', '1', ',', '2'],
    ['unclear', 'a', ' ', 'b'],
    ['unclear', '', 'abc 12 ', ''],
    ['unclear', '', '\t', '"'],
  ] as const)
    assert.equal(kinds(`${from}${between.repeat(1_000_000)}${to}`), [kind], from + between + to);
  assert.equal(kinds(`# ${'a comment, '.repeat(1000)}\n${ID}`), ['id']);
});

test('a long list takes little time', () => {
  const text = Array.from({ length: 2000 }, (_, i) => `SN 2026u${i % 9}bc 12:34:56.7 -01:02:03 Ia 18.2 0.05 ZTF`).join(
    '\n',
  );
  const startMs = performance.now();
  assert.is(parseSearchList(text).length, 2000);
  assert.ok(performance.now() - startMs < 20_000);
});

test.run();
