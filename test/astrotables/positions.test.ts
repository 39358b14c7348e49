/** The columns of positions, and what their cells say in degrees. */

import { findPositions, openTable, readPositionErrors, readPositions } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('astrotables/positions');

const open = (text: string) => openTable(new TextEncoder().encode(text), { maxRows: 100, maxBytes: 1e6 }, false);

async function degrees(text: string, named = {}): Promise<string> {
  const table = await open(text);
  const { ra, dec } = await readPositions(table, findPositions(table, named));
  return [...ra].map((each, i) => `${+each.toFixed(6)} ${+dec[i]!.toFixed(6)}`).join(', ');
}

const field = (name: string, ucd: string, unit = 'deg') =>
  `<FIELD name="${name}" datatype="double" ucd="${ucd}" unit="${unit}"/>`;
const votable = (fields: string, ...rows: number[][]) =>
  `<?xml version="1.0"?><VOTABLE><RESOURCE><TABLE>${fields}<DATA><TABLEDATA>${rows
    .map(row => `<TR>${row.map(cell => `<TD>${cell}</TD>`).join('')}</TR>`)
    .join('')}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`;

test('by UCD before names, by unit, by the usual names, as named [Crossmatch of a table]', async () => {
  const main = field('ra', 'pos.eq.ra') + field('x', 'pos.eq.ra;meta.main') + field('y', 'pos.eq.dec;meta.main');
  assert.is(await degrees(votable(main, [1, 2, 3])), '2 3');
  assert.is(await degrees(votable(field('a', 'POS_EQ_RA_MAIN') + field('b', 'POS_EQ_DEC_MAIN'), [4, 5])), '4 5');
  assert.is(await degrees(votable(field('ra', '', 'rad') + field('dec', '', 'rad'), [Math.PI, -0.5])), '180 -28.64789');
  assert.is(await degrees(votable(field('ra', '', 'hourangle') + field('dec', ''), [2, 5])), '30 5');
  assert.is(await degrees('_RAJ2000\t_DEJ2000\tra\tdec\n1\t2\t3\t4\n'), '1 2');
  assert.is(await degrees('RA_ICRS|DE_ICRS\n7|8\n'), '7 8');
  assert.is(await degrees('ra,dec,x,y\n1,2,3,4\n', { ra: 'X', dec: 'y' }), '3 4');
});

test('sexagesimal texts, and both in one column [Crossmatch of a table]', async () => {
  const rows = ['12:30:49.42,+12:23:28.0', '12 30 49.42,-00 00 36', '12h30m49.42s,12d23m28s', '187.5,-0.01'];
  assert.is(
    await degrees(`ra,dec\n${rows.join('\n')}\n`),
    '187.705917 12.391111, 187.705917 -0.01, 187.705917 12.391111, 187.5 -0.01',
  );
  const both = ['12h30m49.42s +12d23m28s', '187.5 -0.01', '"12:30:49.42, -12:23:28"', '12 30 49.42 12 23 28'];
  assert.is(
    await degrees(`name,skycoord\n${both.map(each => `x,${each}`).join('\n')}\n`),
    '187.705917 12.391111, 187.5 -0.01, 187.705917 -12.391111, 187.705917 12.391111',
  );
  const degree = field('ra', '', 'deg').replace('double', 'char" arraysize="*') + field('dec', '');
  const sent = votable(degree, [0, 5]).replace('<TD>0<', '<TD>187:42:00<');
  assert.is(await degrees(sent), '187.7 5', 'the unit decides');
  assert.is(await degrees('ra,dec\n187:42:00,5\n23:59:60,5\n24:00:00,5\n'), 'NaN 5, NaN 5, NaN 5');
  assert.is(await degrees(`ra,dec\n12h30.5m,"-12°23.5'"\n`), '187.625 -12.391667');
  assert.is(
    await degrees('ra,dec\n12:61:00,1\n,2\nx,3\n12h30.5m10s,4\n0x10,5\n0b1,6\n'),
    'NaN 1, NaN 2, NaN 3, NaN 4, NaN 5, NaN 6',
  );
});

test('the unit with a factor, as astropy writes hours; no position is taken in an unknown unit [Crossmatch of a table]', async () => {
  assert.is(await degrees(votable(field('ra', '', '15deg') + field('dec', '', '1e-06arcsec'), [2, 36e8])), '30 1');
  const unknown = await open(votable(field('ra', '', 'm') + field('dec', ''), [2, 5]));
  const refused = await readPositions(unknown, findPositions(unknown, {})).catch(error => error);
  assert.match(refused.message, /unit of its column ra is m, which is not a known unit of angles/);
  const old = field('RAB1950', 'pos.eq.ra;meta.main') + field('DEB1950', 'pos.eq.dec;meta.main');
  assert.is(await degrees(votable(old + field('RAJ2000', '') + field('DEJ2000', ''), [1, 2, 3, 4])), '3 4');
  assert.is(await degrees(votable(old, [1, 2])), '1.640919 2.278334');
});

test('more than 24 hours, and numbers in a unit of sexagesimal texts, contradict the unit: no position is made of them', async () => {
  const refusal = async (text: string) => {
    const table = await open(text);
    return await readPositions(table, findPositions(table, {})).then(
      () => 'read',
      error => error.message,
    );
  };
  const isHours = /unit of its column .* is .*, but it holds (?:200|-24.5|200:00:00), which is more than 24 hours/;
  for (const [unit, cell] of [
    ['h', 200],
    ['hourangle', 200],
    ['15deg', -24.5],
  ] as const)
    assert.match(await refusal(votable(field('ra', '', unit) + field('dec', ''), [cell, 5])), isHours);
  assert.match(await refusal('RA (h),Dec (deg)\n200,2\n'), isHours);
  assert.match(await refusal('RA (h),Dec (deg)\n200:00:00,2\n'), isHours);
  assert.is(await degrees('RA (h),Dec (deg)\n-1,2\n24,2\n-24,2\n23:59:59,2\n'), '-15 2, 360 2, -360 2, 359.995833 2');
  for (const text of [
    votable(field('ra', '', '&quot;h:m:s&quot;') + field('dec', '', '&quot;d:m:s&quot;'), [30, 5]),
    votable(field('ra', '', 'deg') + field('dec', '', '&quot;d:m:s&quot;'), [30, 5]),
    'RA (h:m:s),Dec (d:m:s)\n30,5\n',
  ])
    assert.match(await refusal(text), /unit of its column .* is .*, but it holds the number (?:30|5)/, text);
  const texts = field('ra', '', '&quot;h:m:s&quot;').replace('double', 'char" arraysize="*') + field('dec', '');
  assert.is(await degrees(votable(texts, [0, 5]).replace('<TD>0<', '<TD>12 30 00<')), '187.5 5');
  const both = field('radec', '', 'h').replace('double', 'char" arraysize="*');
  assert.match(
    await refusal(votable(both, [0]).replace('>0<', '>12:30:00 +05:00:00<')),
    /radec is a latitude or declination in hours/,
  );
  assert.is(await degrees('ra,dec\n200h,5\n-23.5h,5\n'), 'NaN 5, -352.5 5');
});

test('ECSV of astropy and of the Gaia archive: its delimiter, its units, and what is missing [Crossmatch of a table]', async () => {
  const ofAstropy = `# %ECSV 1.0
# ---
# datatype:
# - {name: ra, unit: hourangle, datatype: float64}
# - {name: dec, datatype: float64, description: 'not ''this'', unit: rad'}
# - {name: note, datatype: string}
# meta: {name: dec, unit: rad}
# schema: astropy-2.0
ra dec note
1.5 2 "a b"
"" 2 ""
`;
  assert.is(await degrees(ofAstropy), '22.5 2, NaN 2');
  const ofGaia = `\ufeff# %ECSV 1.0\r
# ---\r
# delimiter: ','\r
# datatype:\r
# -\r
#   name: ra\r
#   datatype: float64\r
#   unit: rad\r
# -\r
#   name: "dec"\r
#   unit: 'deg'\r
"ra","dec"\r
1,2\r
`;
  assert.is(await degrees(ofGaia), '57.29578 2');
});

test('decimal commas, notes in names, and the marks of typography [Crossmatch of a table]', async () => {
  assert.is(await degrees('"RA (deg)",Dec [J2000]\n187.5,\u221220.25\n'), '187.5 -20.25');
  assert.is(await degrees('RA (h),Dec (deg)\n1,2\n'), '15 2');
  const astropy = ['12.5°,1.2D+01', '12.5 deg,\u201312.0', '0.8h,-1.2d1', '12º,\u20101.5e0', '1.25D1,\u221212°00′00″'];
  assert.is(await degrees(`ra,dec\n${astropy.join('\n')}\n`), '12.5 12, 12.5 -12, 12 -12, 12 -1.5, 12.5 -12');
  assert.is(await degrees('ra;dec\n187,5;-0,01\n'), '187.5 -0.01');
  assert.is(await degrees('ra,dec\n12ʰ30ᵐ49.42ˢ,+12°23′28″\n'), '187.705917 12.391111');
});

test('errors of positions in the units that programs write, and with decimal commas; a square is no angle', async () => {
  const arcsec = async (text: string) => [...(await readPositionErrors(await open(text), 'e')).ra];
  for (const [unit, expected] of [
    ['', 36],
    ['"', 36],
    ['arcsec', 36],
    ['arcseconds', 36],
    ['mas', 0.036],
    ['milliarcsec', 0.036],
    ['marcsec', 0.036],
    ['milli-arcsec', 0.036],
    ['uarcsec', 3.6e-5],
    ['10**-3 arcsec', 0.036],
    ['\u00b5as', 3.6e-5],
    ['arcmin', 2160],
    ['deg', 129_600],
    ['degrees', 129_600],
  ] as const) {
    const [found] = await arcsec(votable(field('e', '', unit.replace('"', '&quot;')), [36]));
    assert.ok(Math.abs(found! / expected - 1) < 1e-9, `${unit}: ${found}`);
  }
  for (const unit of ['deg2', 'deg**2', 'deg^2', 'deg/yr', 'arcsec2', 'mas/yr', 's'])
    assert.match((await arcsec(votable(field('e', '', unit), [1])).catch(error => error)).message, /of angles/, unit);
  assert.equal(await arcsec('ra;dec;e\n1,5;2,5;0,25\n1,5;2,5;1,5E-05\n1,5;2,5;0x10\n'), [0.25, 1.5e-5, Number.NaN]);
});

test('a table without them lists its columns', async () => {
  const table = await open('ra,b,c\n1,2,3\n');
  assert.throws(() => findPositions(table, {}), /name them by ra= and dec=; its columns are ra, b, c$/);
});

test.run();
