/** The search box: spellings by hand, and every position in every notation. */

import { separationArcsec } from '@nearsky/sky-index';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseSearchList, parseSearchText } from '../../../src/capabilities/objects/search_text.js';
import { parseTnsName } from '../../../src/core/contract/tns_names.ts';

const test = suite('capabilities/objects/search_text');

const M31 = { ra: 10.684, dec: 41.269 };
const M31_SEXAGESIMAL = { ra: (42 * 60 + 44.3) / 240, dec: 41 + (16 * 60 + 9) / 3600 };

const POSITIONS: readonly (readonly [typed: string, { ra: number; dec: number }, radiusArcsec?: number])[] = [
  ['10.684 41.269', M31],
  ['10.684, +41.269', M31],
  ['10.684;41.269', M31],
  ['  10.684\t+41.269 ', M31],
  ['10.684d 41.269d', M31],
  ['10.684° +41.269°', M31],
  ['ra=10.684 dec=41.269', M31],
  ['RA: 10.684, Dec: 41.269', M31],
  ['(10.684, 41.269)', M31],
  ['10.684 −41.269', { ra: 10.684, dec: -41.269 }],
  ['10.684 - 41.269', { ra: 10.684, dec: -41.269 }],
  ['0 -.5', { ra: 0, dec: -0.5 }],
  ['360 90', { ra: 360, dec: 90 }],
  ['1.0684e1 +4.1269E+01', M31],
  ['1e-7 -2e-7', { ra: 1e-7, dec: -2e-7 }],
  ['00h42m44.3s +41d16m09s', M31_SEXAGESIMAL],
  ['0h42m44.3s+41d16m9s', M31_SEXAGESIMAL],
  ['00H 42M 44.3S, +41D 16M 09S', M31_SEXAGESIMAL],
  ['00 42 44.3 +41 16 09', M31_SEXAGESIMAL],
  ['00 42 44.3 41 16 09', M31_SEXAGESIMAL],
  ['00:42:44.3 +41:16:09', M31_SEXAGESIMAL],
  ['00ʰ42ᵐ44.3ˢ +41°16′09″', M31_SEXAGESIMAL],
  [`00h42m44.3s +41°16'09"`, M31_SEXAGESIMAL],
  ['J004244.3+411609', M31_SEXAGESIMAL],
  ['10:41:02.4 -00:30:00', { ra: 15 * (10 + (41 * 60 + 2.4) / 3600), dec: -0.5 }],
  ['160d15m36s -0d30m0s', { ra: 160.26, dec: -0.5 }],
  ['10.684 41.269 5"', M31, 5],
  ['10.684 41.269 5″', M31, 5],
  ["10.684 41.269 5''", M31, 5],
  ['10.684 41.269 r=5', M31, 5],
  ['10.684 41.269 radius 2.5 arcsec', M31, 2.5],
  ['10.684, 41.269, 5 arcsec', M31, 5],
  ["10.684 41.269 1'", M31, 60],
  ['10.684 41.269 0.5 arcmin', M31, 30],
  ['00h42m44.3s +41d16m09s 10"', M31_SEXAGESIMAL, 10],
  ['00 42 44.3 +41 16 09 r=3', M31_SEXAGESIMAL, 3],
];

test('positions', () => {
  for (const [typed, { ra, dec }, radiusArcsec] of POSITIONS) {
    const found = parseSearchText(typed);
    assert.is(found.kind, 'position', `${typed}: ${JSON.stringify(found)}`);
    if (found.kind !== 'position') continue;
    assert.ok(separationArcsec(found.ra, found.dec, ra, dec) < 1e-6, `${typed}: ${found.ra} ${found.dec}`);
    assert.is(Math.sign(found.dec), Math.sign(dec), typed);
    assert.is(found.radiusArcsec, radiusArcsec, typed);
  }
});

test('ids stay text, whatever their length; what is too large is none', () => {
  const ids = [
    ['313637935709683761', '313637935709683761'],
    [' 9223372036854775807 ', '9223372036854775807'],
    ['0007', '7'],
    ['0', '0'],
  ] as const;
  for (const [typed, id] of ids) assert.equal(parseSearchText(typed), { kind: 'id', id });
  for (const typed of ['9223372036854775808', '9'.repeat(5000)]) assert.is(parseSearchText(typed).kind, 'unclear');
});

test('names of the registry, as the API takes them', () => {
  const names = [
    ['SN 2026abc', '2026abc'],
    ['AT2026abc', '2026abc'],
    ['sn2026A', '2026a'],
    ['2026 abc', '2026abc'],
    ['at 2018cow', '2018cow'],
    ['20121102A', '20121102a'],
  ] as const;
  for (const [typed, name] of names) {
    assert.equal(parseSearchText(typed), { kind: 'tns', name, radiusArcsec: undefined }, typed);
    assert.is(parseTnsName(typed)?.name, name);
  }
  assert.equal(parseSearchText('SN 2026abc r=5'), { kind: 'tns', name: '2026abc', radiusArcsec: 5 });
  assert.equal(parseSearchText('FRB 20121102A'), { kind: 'tns', name: 'frb20121102a', radiusArcsec: undefined });
  assert.equal(parseSearchText('FRB 20121102A 5"'), { kind: 'tns', name: 'frb20121102a', radiusArcsec: 5 });
  assert.equal(parseSearchText('SN2026abc 5"'), { kind: 'tns', name: '2026abc', radiusArcsec: 5 });
});

test('what is none of these is said to be so, with what is wrong where that is known', () => {
  const reasons: readonly (readonly [string, RegExp])[] = [
    ['', /Type an id/],
    ['M31', /neither an id/],
    ['10.684', /neither/],
    ['10.684 41.269 5', /neither/],
    ['-5', /neither/],
    ['400 10', /0 to 360/],
    ['10 91', /-90 to 90/],
    ['24 00 00 +10 00 00', /below 24/],
    ['00 60 00 +10 00 00', /below 60/],
    ['00 00 00 +10 00 60', /below 60/],
    ['00 00 00 +91 00 00', /-90 to 90/],
    ['<script>alert(1)</script>', /neither/],
  ];
  for (const [typed, reason] of reasons) {
    const found = parseSearchText(typed);
    assert.is(found.kind, 'unclear', typed);
    assert.match(found.kind === 'unclear' ? found.reason : '', reason, typed);
  }
});

const ra = fc.double({ min: 0, max: 359.999, noNaN: true });
const dec = fc.double({ min: -89.999, max: 89.999, noNaN: true });

function sixties(value: number): [string, string, string] {
  const whole = Math.floor(value);
  const minutes = Math.floor((value - whole) * 60);
  return [`${whole}`, `${minutes}`, Math.max(0, ((value - whole) * 60 - minutes) * 60).toFixed(9)];
}

test('every position, in decimal and sexagesimal notation [P16]', () => {
  fc.assert(
    fc.property(ra, dec, fc.constantFrom(' ', ':', 'hms'), fc.boolean(), (ra, dec, separator, hasRadius) => {
      const radius = hasRadius ? ' r=7' : '';
      const [h, m, s] = sixties(ra / 15);
      const [d, dm, ds] = sixties(Math.abs(dec));
      if (Number(s) >= 60 || Number(ds) >= 60) return;
      const sign = dec < 0 ? '-' : '+';
      const text =
        separator === 'hms'
          ? `${h}h${m}m${s}s ${sign}${d}d${dm}m${ds}s`
          : `${[h, m, s].join(separator)} ${sign}${[d, dm, ds].join(separator)}`;
      for (const typed of [text, `${ra.toFixed(12)} ${dec.toFixed(12)}`]) {
        const found = parseSearchText(`${typed}${radius}`);
        assert.is(found.kind, 'position', typed);
        if (found.kind !== 'position') return;
        assert.ok(separationArcsec(found.ra, found.dec, ra, dec) < 1e-4, `${typed}: ${found.ra} ${found.dec}`);
        assert.is(found.radiusArcsec, hasRadius ? 7 : undefined);
      }
    }),
  );
});

test('any text is taken without a fault, in no time', () => {
  const piece = fc.constantFrom(
    '1',
    '99',
    '.',
    ' ',
    '-',
    '+',
    'h',
    'm',
    's',
    'd',
    '°',
    "'",
    '"',
    'r',
    '=',
    'j',
    'sn',
    ':',
    ',',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 60 }).map(parts => parts.join('')),
      ),
      typed => {
        assert.ok(['id', 'tns', 'position', 'unclear'].includes(parseSearchText(typed).kind));
      },
    ),
    { numRuns: 2000 },
  );
  for (const typed of ['1 '.repeat(20_000), '1'.repeat(50_000), ' '.repeat(50_000), `1${' '.repeat(50_000)}x`])
    assert.ok(parseSearchText(typed));
});

const ID = '313637935709683761';
const OTHER_ID = '169641483339038753';

/** The kind and the value of each entry, in short. */
function shortOf(typed: string): string[] {
  return parseSearchList(typed).map(({ search }) => {
    if (search.kind === 'position')
      return `${search.ra.toFixed(3)} ${search.dec.toFixed(3)}${search.radiusArcsec === undefined ? '' : ` ${search.radiusArcsec}"`}`;
    return search.kind === 'id' ? search.id : search.kind === 'tns' ? search.name : '?';
  });
}

test('lists: ids, names and positions, mixed, however they are separated', () => {
  const lists: readonly (readonly [typed: string, entries: readonly string[]])[] = [
    [`${ID} ${OTHER_ID}`, [ID, OTHER_ID]],
    [`${ID},${OTHER_ID}`, [ID, OTHER_ID]],
    [`${ID}, ${OTHER_ID};\t${ID}`, [ID, OTHER_ID, ID]],
    [`${ID}\r\n\n${OTHER_ID}\n`, [ID, OTHER_ID]],
    [`"${ID}",\n"${OTHER_ID}"`, [ID, OTHER_ID]],
    ['SN 2026abc, AT2026xyz', ['2026abc', '2026xyz']],
    ['SN 2026abc SN 2026xyz', ['2026abc', '2026xyz']],
    [`SN 2026abc ${ID} 10.684 +41.269`, ['2026abc', ID, '10.684 41.269']],
    ['10.684,41.269;11.5,-42', ['10.684 41.269', '11.500 -42.000']],
    ['10.684 41.269 5"\n00:42:44.3 +41:16:09', ['10.684 41.269 5"', '10.685 41.269']],
    ['00 42 44.3 +41 16 09\n10.684 41.269 r=3', ['10.685 41.269', '10.684 41.269 3"']],
    [`diaObjectId\n${ID}`, ['?', ID]],
    [`ra,dec\n10.684,41.269\n400,41`, ['?', '10.684 41.269', '?']],
    ['10.684 41.269', ['10.684 41.269']],
    ['hello world', ['?']],
    // A word that cannot be read may name another frame or another catalog, so its line has no entries.
    ['gal 120.5 -20.3', ['?']],
    [`12 30 49 +12 40 00 B1950\n${ID}`, ['?', ID]],
    ['equinox 1950 120.5 -20.3', ['?']],
    ['l 120 20.5 30.5', ['?']],
    // Hours and minutes, another equinox, or a radius, and no label.
    ['RA 10 41.2 -5.5', ['?']],
    ['ra 10h 41.2 -5.5', ['?']],
    ['10 41.2 dec 5', ['?']],
    ['ra 10 41.2 dec 5', ['?']],
    ['hours 5 20.5 3', ['?']],
    ['epoch 1975 10.68 41.27', ['?']],
    ['10.68 41.27 rad 5', ['?']],
    ['10.68 41.27 within 5', ['?']],
    ['SGL 10 5 30', ['?']],
    ['dec5.5 10.68 41.27', ['?']],
    ['l120 10.68 41.27', ['?']],
    ['object 5 10.68 41.27', ['10.680 41.270']],
    ['NGC 224 10.68 41.27', ['10.680 41.270']],
    ['M31, 10.68, 41.27', ['10.680 41.270']],
    ['Foo 10.68 41.27', ['?']],
    ['1, 10.68, 41.27', ['?']],
    ['Gaia DR2 4295806720', ['?']],
    // Two positions, or one in hours, degrees and minutes.
    ['00 42 +41 16', ['?']],
    ['10.684 41.269 5', ['?']],
    ['400 41', ['?']],
    ['', ['?']],
  ];
  for (const [typed, entries] of lists) assert.equal(shortOf(typed), entries, typed);
});

test('ids keep their digits, in lists and in messages', () => {
  for (const typed of [`${ID} 95`, `${ID} 41.5`]) {
    const message = JSON.stringify(parseSearchText(typed));
    assert.match(message, ID);
  }
  fc.assert(
    fc.property(fc.array(fc.bigInt({ min: 10n ** 9n, max: 2n ** 63n - 1n }), { minLength: 2, maxLength: 20 }), ids => {
      for (const separator of [' ', ',', '\n', ', ', ';', '\t', ' | '])
        assert.equal(shortOf(ids.join(separator)), ids.map(String), separator);
    }),
    { numRuns: 50 },
  );
});

const CATALOGS = [
  { name: 'gaia_dr3', release: 'Gaia DR3', idType: 'int64' },
  { name: 'mine', release: 'Mine (v1.0)', idType: 'text' },
];

test('a source of a catalog, by its name or release', () => {
  const sources: readonly (readonly [typed: string, catalog: string, id: string])[] = [
    ['Gaia DR3 5283956384', 'gaia_dr3', '5283956384'],
    [' gaia dr3: 5283956384', 'gaia_dr3', '5283956384'],
    ['GAIA_DR3 -1', 'gaia_dr3', '-1'],
    ['GaiaDR3 9223372036854775807', 'gaia_dr3', '9223372036854775807'],
    ['mine J00-x', 'mine', 'J00-x'],
    ['Mine (v1.0), aB', 'mine', 'aB'],
  ];
  for (const [typed, catalog, id] of sources) {
    assert.equal(parseSearchText(typed, CATALOGS), { kind: 'source', catalog, id }, typed);
    assert.equal(parseSearchList(typed, CATALOGS).length, 1);
  }
  for (const typed of ['Gaia DR3', 'Gaia DR2 12', 'Gaia DR3 x', 'Gaia DR3 12345678901234567890', 'Mine (v1x0) aB'])
    assert.is(parseSearchText(typed, CATALOGS).kind, 'unclear', typed);
  // The id of a source is never taken for that of an object.
  const list = parseSearchList('Gaia DR3 5283956384000\n5283956384001', CATALOGS);
  assert.equal(
    list.map(({ search }) => search.kind),
    ['unclear', 'id'],
  );
});

test.run();
