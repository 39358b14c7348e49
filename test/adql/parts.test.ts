/** The parts of partial tables that a query needs. */
import { type DescribedTable, translate } from '@nearsky/adql';
import { pixelOf } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('adql/parts');

const column = (name: string, type: 'int64' | 'float64') => ({ name, type, description: '' });
const POSITION = [column('ra', 'float64'), column('dec', 'float64')];
const SOURCES: DescribedTable = {
  schema: 'gaia',
  name: 'sources',
  description: '',
  columns: [column('id', 'int64'), ...POSITION, column('mag', 'float64')],
  position: { ra: 'ra', dec: 'dec' },
  partial: { id: 'id', idPixel: { order: 12, bits: 35 }, outsideArcsec: 1 },
};
const MATCHES = (schema: string): DescribedTable => ({
  schema: 'nearsky',
  name: `${schema}_matches`,
  description: '',
  columns: [column('source_id', 'int64'), ...POSITION],
  linked: { schema, id: 'source_id', ra: 'ra', dec: 'dec' },
});
const TABLES = [SOURCES, MATCHES('gaia'), MATCHES('other')];

const asked = (query: string) => translate(query, TABLES, 1000);
const only = (query: string) => asked(query).parts[0]!;

/** A position some degrees to the east and north of another, also beyond a pole. */
function moved(ra: number, dec: number, east: number, north: number): { ra: number; dec: number } {
  const [a, d, e, n] = [ra, dec, east, north].map(degrees => (degrees * Math.PI) / 180) as [
    number,
    number,
    number,
    number,
  ];
  const x = Math.cos(a) * Math.cos(d) - e * Math.sin(a) - n * Math.cos(a) * Math.sin(d);
  const y = Math.sin(a) * Math.cos(d) + e * Math.cos(a) - n * Math.sin(a) * Math.sin(d);
  const z = Math.sin(d) + n * Math.cos(d);
  return {
    ra: ((Math.atan2(y, x) * 180) / Math.PI + 360) % 360,
    dec: (Math.atan2(z, Math.hypot(x, y)) * 180) / Math.PI,
  };
}

test('the area of ids holds sources that have moved to a pixel beside theirs', () => {
  for (const [ra, dec] of [
    [10, 20],
    [359.9999, 0],
    [45, 41.8],
    [100, 89.99],
    [200, -89.999],
  ] as const) {
    const id = (BigInt(pixelOf(12, ra, dec)) << 35n) + 7n;
    const { bounds } = only(`SELECT mag FROM gaia.sources WHERE id = ${id}`);
    const holds = (pixel: number) => {
      for (let i = 0; i < bounds!.length; i += 2) if (pixel >= bounds![i]! && pixel < bounds![i + 1]!) return true;
      return false;
    };
    const step = 50 / 3600;
    for (const [east, north] of [
      [0, 0],
      [step, 0],
      [-step, 0],
      [0, -step],
    ] as const) {
      const place = moved(ra, dec, east, north);
      assert.ok(holds(pixelOf(13, place.ra, place.dec) * 64), `${ra} ${dec} ${east} ${north}`);
    }
    const pixels = bounds!.reduce((sum, each, i) => sum + (i % 2 ? each : -each), 0);
    assert.ok(pixels < 256 * 128, `${pixels}`);
  }
});

test('ids of other kinds give no area', () => {
  for (const condition of [
    'id = 5.0',
    'id <> 5',
    'NOT id = 5',
    'id = 5 OR mag > 3',
    'id + 0 = 5',
    'id IN (5, mag)',
    'id = 9000000000001000001',
    'id IN (5, 6917529027641081856)',
  ])
    assert.is(only(`SELECT mag FROM gaia.sources WHERE ${condition}`).bounds, undefined, condition);
});

test('a join with positions in another unit reads near them', () => {
  const inRadians = ['ra', 'dec'].map(name => ({ ...column(name, 'float64'), unit: 'rad' }));
  const mine: DescribedTable = { schema: 'TAP_UPLOAD', name: 'mine', description: '', columns: inRadians };
  const [ra, dec] = ['ra', 'dec'].map(name => `IN_UNIT(m.${name}, 'deg')`);
  const query = `SELECT s.mag FROM mine AS m JOIN gaia.sources AS s ON DISTANCE(POINT(${ra}, ${dec}), POINT(s.ra, s.dec)) < 0.001`;
  assert.match(translate(query, [...TABLES, mine], 1000).parts[0]!.near[0]!, '57.29577951308232');
  for (const [unit, hint] of [
    ['rad', `write IN_UNIT("ra", 'deg')`],
    ['hours', 'multiply it by 15'],
    ['mag', 'convert it'],
    ['degrees', ''],
    ['?', ''],
  ] as const) {
    const columns = mine.columns.map(each => ({ ...each, unit }));
    const read = () => translate('SELECT POINT(ra, dec) FROM mine', [{ ...mine, columns }], 1000);
    if (hint === '') read();
    else assert.throws(read, (error: Error) => error.message.endsWith(`ra is in ${unit}: ${hint}`));
  }
});

test('a join by id reads near the matches of the same catalog alone, as far as sources move from release to release', () => {
  const join = (matches: string) =>
    only(`SELECT s.mag FROM gaia.sources AS s JOIN nearsky.${matches} AS m ON s.id = m.source_id`).near;
  assert.is(join('other_matches').length, 0);
  const [near, ...others] = join('gaia_matches');
  assert.equal(others, []);
  const radius = Number(/, ([0-9.]+) FROM/.exec(near!)![1]);
  assert.ok(radius > 16 / 3600 && radius < 30 / 3600, near);
});

test('rows that may differ when they are computed again are stored first', () => {
  const near = 'DISTANCE(POINT(s.ra, s.dec), POINT(m.ra, m.dec)) < 0.001';
  const of = (rows: string) => `(SELECT ra, dec FROM nearsky.gaia_matches ${rows}) AS m`;
  assert.equal(asked(`SELECT s.mag FROM gaia.sources AS s JOIN ${of('WHERE ra < 9')} ON ${near}`).kept, []);
  for (const rows of ['ORDER BY ra OFFSET 3', 'WHERE RAND() < 0.5']) {
    const { sql, kept, parts } = asked(`SELECT s.mag FROM gaia.sources AS s JOIN ${of(rows)} ON ${near}`);
    assert.is(kept.length, 1);
    const [{ relation }] = kept as [(typeof kept)[0]];
    for (const text of [sql, parts[0]!.near[0]!]) assert.ok(text.includes(relation) && !/OFFSET|random/.test(text));
  }
});

test('conditions on rows that an outer join may replace by NULL do not narrow what their positions are used for', () => {
  const near = 'DISTANCE(POINT(s.ra, s.dec), POINT(m.ra, m.dec)) < 0.001';
  const pairs = `(nearsky.gaia_matches AS m JOIN gaia.sources AS s ON ${near})`;
  const narrowed = (type: string) =>
    only(
      `SELECT s.mag FROM nearsky.other_matches AS a ${type} JOIN ${pairs} ON a.source_id = m.source_id WHERE m.source_id IS NULL`,
    ).near[0]!.includes('IS NULL');
  assert.equal(['INNER', 'RIGHT', 'LEFT', 'FULL'].map(narrowed), [true, true, false, false]);
});

test.run();
