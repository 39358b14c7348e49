/**
 * The frame and the unit of positions, from everything that states them. Inputs in test/fixtures/frames: `source.fits`
 * is FK4 B1950, its positions in ICRS (astropy 8.0.2) are in `objects.ndjson`, and the other files are copies that
 * astropy, STILTS 4.1.3 and pandas make of it.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  findPositions,
  type NamedColumns,
  openTable,
  positionReader,
  readPositions,
  TableError,
} from '@nearsky/astrotables';
import { describeFrame } from '@nearsky/astrotables/frames';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorUnit } from '../../packages/astrotables/read/position_frame.ts';

const test = suite('astrotables/position_hints');

const FIXTURES = fileURLToPath(new URL('../fixtures/frames/', import.meta.url));
const LIMITS = { maxRows: 1000, maxBytes: 1e7 };

interface Declarations {
  readonly declared?: readonly { readonly name: string; readonly equinox?: string }[];
  readonly of?: { readonly name: string; readonly equinox?: string };
}

/** A column as `name|unit|ucd`. */
const columnOf = (text: string) => {
  const [name = '', unit = '', ucd = ''] = text.split('|');
  return { name, type: 'float64' as const, unit, ucd, description: '' };
};

/** The frame and the degrees of 1 in both columns, or the reason why they are refused. */
function decided(pair: readonly string[], named: NamedColumns = {}, { declared, of }: Declarations = {}): string {
  const table = {
    columns: pair.map(columnOf),
    ...(declared && { declared }),
    ...(of && { frames: new Map(pair.map((_, place) => [place, of])) }),
  };
  try {
    const found = findPositions(table, named);
    const degrees = positionReader(table, { ...found, frame: { system: 'ICRS' } })('1', '1');
    return `${describeFrame(found.frame)} ${degrees.map(each => +each.toPrecision(6)).join(' ')}`;
  } catch (error) {
    assert.instance(error, TableError, `${error}`);
    return (error as Error).message;
  }
}

/** Checks the decision on columns that are found, and on columns that the request names. */
function check(pair: readonly string[], expected: string | RegExp, declared?: Declarations, isFound = true): void {
  const [ra, dec] = pair.map(each => columnOf(each).name);
  const all = [{ ra, dec }, ...(isFound ? [{}] : [])];
  for (const named of all) {
    const answer = decided(pair, named, declared);
    const hint = `${pair.join(' ')} ${JSON.stringify(named)}: ${answer}`;
    if (typeof expected === 'string') assert.is(answer, expected, hint);
    else assert.match(answer, expected, hint);
  }
}

/** Each form of a unit behind a name. */
const behind = (unit: string) => [
  ` (${unit})`,
  ` [${unit}]`,
  `(${unit})`,
  ` {${unit}}`,
  `_${unit}`,
  ` ${unit}`,
  `, ${unit}`,
  ` / ${unit}`,
];
const DEGREES = ['', ...['deg', '°', 'degrees'].flatMap(behind)];
const asWritten = (text: string) => [text, text.toLowerCase(), text.toUpperCase()];

test('galactic positions, by each form of their names and of degrees', () => {
  const pairs =
    'l b,GLON GLAT,_GLON _GLAT,gal_l gal_b,l_gal b_gal,Galactic_Longitude Galactic_Latitude,gal-lon gal-lat,galLon galLat,lII bII,GlxLon GlxLat,gal.long gal.lat,galactic_l galactic_b';
  for (const pair of pairs.split(','))
    for (const note of DEGREES)
      for (const letters of [0, 1, 2]) {
        const [lon, lat] = pair.split(' ').map(name => asWritten(`${name.replaceAll('_L', ' L')}${note}`)[letters]!);
        // In capitals, words are no longer separated.
        if (pair.startsWith('gal') && letters === 2 && /[a-z][A-Z]/.test(pair)) continue;
        check([lon!, lat!], 'GALACTIC 1 1');
      }
  check(['Galactic Longitude|deg', 'Galactic Latitude|deg'], 'GALACTIC 1 1');
  check(['l (rad)', 'b (rad)'], 'GALACTIC 57.2958 57.2958');
});

test('equatorial positions in degrees, hours and radians, by each form of their names', () => {
  const pairs =
    'ra dec,RA decl,R.A. Decl.,Right_Ascension Declination,alpha delta,α δ,RAJ2000 DEJ2000,ra_icrs dec_icrs,RA(FK5) Dec(FK5),ra declination,RA_(J2000) Dec_(J2000)';
  for (const pair of pairs.split(',')) {
    const [lon, lat] = pair.split(' ').map(name => name.replaceAll('_', ' '));
    const frame = pair.includes('FK5') ? /^FK5 J2000/ : /^ICRS/;
    for (const note of DEGREES) check([lon! + note, lat! + note], new RegExp(`${frame.source} 1 1$`));
    for (const unit of ['hours', 'h', 'hr', 'hourangle'])
      for (const note of behind(unit).slice(0, unit === 'h' ? 4 : 8))
        check([lon! + note, `${lat} (deg)`], new RegExp(`${frame.source} 15 1$`));
    for (const unit of ['rad', 'radians'])
      for (const note of behind(unit))
        check([lon! + note, lat! + note], new RegExp(`${frame.source} 57.2958 57.2958$`));
    for (const unit of ['mas', 'arcsec', 'arcmin'])
      for (const note of behind(unit).slice(0, 5)) {
        const degrees = { mas: 1 / 3_600_000, arcsec: 1 / 3600, arcmin: 1 / 60 }[unit]!;
        check([lon! + note, lat! + note], new RegExp(`${frame.source} (${+degrees.toPrecision(6)}) \\1$`));
      }
  }
  check(['raHours', 'decDeg'], 'ICRS 15 1');
  check(['RAdeg', 'DEdeg'], 'ICRS 1 1');
  check(['ra_deg|deg', 'dec_deg|deg'], 'ICRS 1 1');
  check(['ra|hourangle', 'dec|deg'], 'ICRS 15 1');
  check(['my position|deg', 'other|deg'], 'ICRS 1 1', {}, false);
  check(['ra_second', 'dec_second'], 'ICRS 1 1', {}, false);
  check(['gaia_ra', 'gaia_dec'], 'ICRS 1 1', {}, false);
  check(['ra_gal', 'dec_gal'], 'ICRS 1 1', {}, false);
  check(['RA (Gaia)', 'Dec (Gaia)'], 'ICRS 1 1', {}, false);
  check(['lon', 'lat'], 'ICRS 1 1', {}, false);
  check(['ra (epoch 2016.0)', 'dec (epoch 2016.0)'], 'ICRS 1 1', {}, false);
});

test('old equinoxes by each form of their names', () => {
  const years =
    'RAB1950 DEB1950,ra_b1950 dec_b1950,RA_(B1950) Dec_(B1950),RA_1950 DEC_1950,ra_fk4 dec_fk4,RA_(FK4) Dec_(FK4),RA_[FK4_B1950] Dec_[FK4_B1950],RA_(1950.0) Dec_(1950.0),R.A._(B1950) Decl._(B1950),raFK4 decFK4,RA_(equinox_B1950) Dec_(equinox_B1950),RA_(B1950,_deg) Dec_(B1950,_deg)';
  for (const pair of years
    .split(',R')
    .map((each, i) => (i === 0 ? each : `R${each}`))
    .flatMap(each => each.split(/,(?=ra)/)))
    for (const note of ['', ' (deg)', ' [deg]']) {
      const [lon, lat] = pair.split(' ').map(name => name.replaceAll('_', ' ') + note);
      check([lon!, lat!], 'FK4 B1950 1 1');
    }
  check(['RAJ1975.0', 'DEJ1975.0'], 'FK5 J1975 1 1');
  check(['RAB1875', 'DEB1875'], 'FK4 B1875 1 1');
  check(['RA (FK5 J1975)', 'Dec (FK5 J1975)'], 'FK5 J1975 1 1');
});

test('names that say another frame, or a unit that is no angle, are refused by name', () => {
  const others =
    'ecl_lon ecl_lat,elon elat,ELON ELAT,EclLon EclLat,ecliptic_longitude ecliptic_latitude,ObsEclLon ObsEclLat,lambda beta,ecl_l ecl_b,SGL SGB,sgl sgb,supergalactic_longitude supergalactic_latitude,sg_l sg_b,super_galactic_l super_galactic_b,az alt,azimuth elevation,ha dec,hour_angle dec,ra_app dec_app,RA_apparent DEC_apparent,ra_jnow dec_jnow,RA_(JNow) DEC_(JNow),RA_of_date DEC_of_date,ra_cirs dec_cirs,topocentric_ra topocentric_dec,ra_galactic dec_galactic,ra_ecl dec_ecl,RA_(ecl) Dec_(ecl)';
  for (const pair of others.split(','))
    for (const note of ['', ' (deg)', ' [deg]', '_deg']) {
      const [lon, lat] = pair.split(' ').map(name => name.replaceAll('_', ' ') + note);
      check(
        [lon!, lat!],
        /ecliptic|supergalactic|horizontal|hour angle|apparent|both galactic and equatorial/,
        {},
        false,
      );
      assert.is(decided([lon!, lat!], { ra: lon, dec: lat, frame: 'FK5' }), 'FK5 J2000 1 1');
    }
  for (const unit of ['pix', 'pixels', 'gon', 'mrad', 'turns', 's', 'min', 'm', 'deg/yr', 'mas/yr', 'sec'])
    for (const note of behind(unit).slice(0, 4))
      check([`ra${note}`, `dec${note}`], /not a known unit of angles/, {}, false);
  check(['ra_pix', 'dec_pix'], /not a known unit/, {}, false);
  check(['RAh', 'DEd'], 'ICRS 1 1', {}, false);
  assert.match(
    decided(['RAh', 'DEd', 'RAm', 'RAs', 'DEm', 'DEs'], { ra: 'RAh', dec: 'DEd' }),
    /RAh, RAm, RAs hold the parts of one coordinate/,
  );
  check(['RA (1991.25)', 'DEC (1991.25)'], /equinox or an epoch/, {}, false);
  check(['ra_j2016', 'dec_j2016'], /equinox or an epoch/, {}, false);
  check(['RA (epoch 1950)', 'DEC (epoch 1950)'], /equinox or an epoch/, {}, false);
});

test('contradictions are refused, and both sides are named', () => {
  const ecl = 'pos.ecliptic.lon';
  for (const [pair, first, second, declared] of [
    [['RA (hours)|deg', 'DEC'], 'is deg', 'says hours'],
    [['RAdeg|rad', 'DEdeg|rad'], 'is rad', 'says deg'],
    [['ra (rad)|deg', 'dec (rad)|deg'], 'is deg', 'says rad'],
    [['ra_hours (deg)', 'dec'], 'is deg', 'says hours'],
    [['ra', 'dec (hours)'], 'dec \\(hours\\)', 'in hours'],
    [['ra', 'dec|hourangle'], 'dec', 'in hours'],
    [['RAB1950', 'DEJ2000'], 'FK4 B1950', 'ICRS'],
    [['GLON', 'DEC'], 'GLON', 'DEC'],
    [['ra', 'glat'], 'ra', 'glat'],
    [['dec', 'ra'], 'dec', 'ra='],
    [['b', 'l'], 'b is a latitude', 'ra='],
    [['glat', 'glon'], 'glat is a latitude', 'ra='],
    [['GLON|deg|pos.eq.ra', 'GLAT|deg|pos.eq.dec'], 'UCDs pos.eq.ra', 'name GLON'],
    [['ra||pos.galactic.lon', 'dec||pos.galactic.lat'], 'UCDs pos.galactic.lon', 'name ra'],
    [[`ra||${ecl}`, 'dec'], ecl, 'neither'],
    [['ra', 'dec'], 'GALACTIC', 'name ra', { of: { name: 'galactic' } }],
    [['GLON', 'GLAT'], 'ICRS', 'name GLON', { of: { name: 'ICRS' } }],
    [['RAB1950', 'DEB1950'], 'ICRS', 'FK4 B1950', { of: { name: 'ICRS' } }],
    [['RAJ2000', 'DEJ2000'], 'FK4 B1950', 'RAJ2000', { of: { name: 'FK4' } }],
    [['ra_fk4', 'dec_fk4'], 'FK5 J2000', 'ra_fk4', { of: { name: 'FK5' } }],
    [['RAJ2000', 'DEJ2000'], 'FK4 B1950', 'RAJ2000', { declared: [{ name: 'FK4' }] }],
    [['ra', 'dec'], 'GALACTIC', 'name ra', { declared: [{ name: 'galactic' }] }],
    [['ra', 'dec'], 'ICRS', 'FK4', { declared: [{ name: 'ICRS' }, { name: 'FK4' }] }],
    [['ra', 'dec'], 'FK5 J1975', 'FK5 J2000', { declared: [{ name: 'FK5', equinox: 'J1975' }, { name: 'FK5' }] }],
  ] as readonly (readonly [string[], string, string, Declarations?])[]) {
    check(pair, new RegExp(`${first}[^]*${second}|${second}[^]*${first}`), declared, false);
    // The request decides between frames, never between units.
    if (first.startsWith('is ') || second === 'in hours' || second === 'ra=' || second === 'neither') continue;
    assert.is(decided(pair, { ra: columnOf(pair[0]!).name, dec: columnOf(pair[1]!).name, frame: 'ICRS' }), 'ICRS 1 1');
  }
});

test('declarations that agree with the names, or concern other positions', () => {
  const fk4 = { name: 'FK4', equinox: 'B1950' };
  check(['ra', 'dec'], 'FK4 B1950 1 1', { declared: [fk4] });
  check(['ra', 'dec'], 'FK4 B1950 1 1', { declared: [fk4, fk4] });
  check(['ra', 'dec'], 'FK4 B1950 1 1', { of: fk4, declared: [{ name: 'ICRS' }] });
  check(['GLON', 'GLAT'], 'GALACTIC 1 1', { declared: [fk4] });
  check(['RAB1950', 'DEB1950'], 'FK4 B1950 1 1', { declared: [{ name: 'ICRS' }] });
  check(['RAB1950', 'DEB1950'], 'FK4 B1950 1 1', { of: fk4 });
  check(['RA_ICRS', 'DE_ICRS'], 'ICRS 1 1', { declared: [{ name: 'ICRS' }, fk4] });
  check(['RAJ2000', 'DEJ2000'], 'FK5 J2000 1 1', { declared: [{ name: 'FK5' }] });
  check(['lon', 'lat'], 'GALACTIC 1 1', { of: { name: 'galactic' } });
  check(['RA (1991.25)', 'DEC (1991.25)'], 'ICRS 1 1', { of: { name: 'ICRS' } });
});

test('long names cost little time and say nothing', () => {
  for (const part of ['hourangle ', '(deg', 'ra (', 'gal_', '°', 'right_', ' '])
    for (const length of [250, 2 ** 20]) {
      const name = part.repeat(length / part.length);
      assert.type(decided([`${name}x`, `${name}y`], { ra: `${name}x`, dec: `${name}y`, frame: 'ICRS' }), 'string');
    }
});

test('the unit of an error is its own, or that of its name', () => {
  const arcsec = (text: string) => {
    try {
      return `${+errorUnit(columnOf(text)).toPrecision(6)}`;
    } catch (error) {
      return (error as Error).message;
    }
  };
  for (const note of behind('mas')) assert.is(arcsec(`err${note}`), '0.001', note);
  for (const [text, expected] of [
    ['err', '1'],
    ['err|mas', '0.001'],
    ['err (mas)|mas', '0.001'],
    ['err (marcsec)', '0.001'],
    ['err [micro-arcsec]', '0.000001'],
    ['err_uarcsec', '0.000001'],
    ['err_arcsec', '1'],
    ['err [deg]', '3600'],
    ['sigma (µas)', '0.000001'],
    ['e_RAdeg|mas', '0.001'],
    ['e_RAdeg', '3600'],
    ['ra_error', '1'],
    ['err_rad|arcsec', '1'],
    ['second', '1'],
    ['turn_err', '1'],
  ] as const)
    assert.is(Number(arcsec(text)), Number(expected), `${text}: ${arcsec(text)}`);
  for (const [text, message] of [
    ['err (mas)|arcsec', /is arcsec, but its name says mas/],
    ['err_mas|deg', /is deg, but its name says mas/],
    ['err_rad', /radians or a radius/],
    ['err (mas/yr)', /not a known unit/],
    ['err (pix)', /not a known unit/],
  ] as const)
    assert.match(arcsec(text), message, text);
});

test('the keywords of a FITS table in the copies that programs make of it', async () => {
  const objects = readFileSync(`${FIXTURES}objects.ndjson`, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const files =
    'source.fits astropy.ecsv stilts.ecsv stilts.vot stilts.ipac stilts.fits astropy.parquet astropy.ipac astropy_of_ipac.ecsv pandas.parquet epoch.fits epoch.ecsv l_deg.csv ra_hours.csv';
  for (const name of files.split(' ')) {
    const table = await openTable(readFileSync(`${FIXTURES}${name}`), LIMITS, true);
    const found = findPositions(table, {});
    const { ra, dec } = await readPositions(table, found);
    assert.is(ra.length, 20, name);
    objects.forEach((object, row) => {
      const arcsec = separationArcsec(ra[row]!, dec[row]!, object.ra, object.decl);
      assert.ok(arcsec < 0.2, `${name}, row ${row}: ${arcsec} arcsec as ${describeFrame(found.frame)}`);
    });
  }
});

test('declarations of a VOTable: two systems without references, MIVOT, parameters', async () => {
  const field = (name: string) => `<FIELD name="${name}" datatype="double" unit="deg"/>`;
  const frameIn = async (head: string, names = ['ra', 'dec'], inside = '') => {
    const text = `<?xml version="1.0"?><VOTABLE><RESOURCE>${head}<TABLE>${inside}${names.map(field).join('')}<DATA><TABLEDATA><TR><TD>1</TD><TD>2</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`;
    try {
      return describeFrame(findPositions(await openTable(Buffer.from(text), LIMITS, true), {}).frame);
    } catch (error) {
      return (error as Error).message;
    }
  };
  const system = (id: string, name: string) => `<COOSYS ID="${id}" system="${name}"/>`;
  assert.match(
    await frameIn(system('a', 'eq_FK4') + system('b', 'ICRS')),
    /FK4 B1950 \(COOSYS eq_FK4\), but ICRS \(COOSYS ICRS\)/,
  );
  assert.is(await frameIn(system('a', 'eq_FK4') + system('b', 'eq_FK4')), 'FK4 B1950');
  assert.is(await frameIn(system('a', 'eq_FK4') + system('b', 'ICRS'), ['RA_ICRS', 'DE_ICRS']), 'ICRS');
  const mivot = (frame: string, more = '') =>
    `<RESOURCE type="meta"><VODML><GLOBALS><INSTANCE dmid="s" dmtype="coords:SpaceSys"><INSTANCE dmrole="coords:PhysicalCoordSys.frame" dmtype="coords:SpaceFrame"><ATTRIBUTE dmrole="coords:SpaceFrame.spaceRefFrame" dmtype="ivoa:string" value="${frame}"/>${more}</INSTANCE></INSTANCE></GLOBALS></VODML></RESOURCE>`;
  assert.is(await frameIn(mivot('FK4')), 'FK4 B1950');
  const equinox = '<ATTRIBUTE dmrole="coords:SpaceFrame.equinox" dmtype="coords:Epoch" value="J1975"/>';
  assert.is(await frameIn(mivot('FK5', equinox)), 'FK5 J1975');
  assert.match(await frameIn(mivot('FK4') + system('b', 'ICRS')), /FK4.*ICRS|ICRS.*FK4/);
  assert.match(await frameIn(mivot('ECLIPTIC')), /ECLIPTIC is not converted/);
  const param = (name: string, value: string) =>
    `<PARAM name="${name}" datatype="char" arraysize="*" value="${value}"/>`;
  assert.is(await frameIn('', undefined, param('EQUINOX', '1950.0')), 'FK4 B1950');
  assert.is(await frameIn(param('RADECSYS', 'FK5') + param('EQUINOX', 'J1975')), 'FK5 J1975');
  assert.match(await frameIn(param('EPOCH', '1991.25')), /EPOCH=1991.25/);
  assert.is(await frameIn(param('EPOCH', '2016.0') + param('RADESYS', 'ICRS')), 'ICRS');
});

test.run();
