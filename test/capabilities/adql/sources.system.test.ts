/** The catalogs themselves in queries: `CATALOG.sources`, beside a scan of every row, and what hosts are asked for. */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pixelOf, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestOf } from '../../../src/capabilities/adql/known_sources.ts';
import { adqlSettings } from '../../../src/capabilities/adql/settings.ts';
import { SourceReader } from '../../../src/capabilities/adql/source_reader.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { uploadsOf } from '../../../src/capabilities/uploads/uploads.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { ClientAdmission } from '../../../src/core/base/client_admission.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { readCatalog } from '../../../src/core/store/catalog_registration.ts';
import { type RangeServer, serveFiles } from '../../core/catalogs/range_server.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import { writeHats } from '../../core/catalogs/write_hats.ts';
import { configOf, eventually, TestApp } from '../../core/http/support.ts';
import { nearsky } from '../../e2e/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { type Place, seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { inWorld, World, type WrittenCatalog } from '../crossmatch/world.ts';
import { putOneSource } from './one_source.ts';

const test = suite<Context>('tap/sources');
const check = needs(test, duckdbObstacle());

const random = seededRandom(36);
const FIELD = { ra: 61, dec: -49 };
/** Positions in a field of 6 by 6 degrees. */
const places = (count: number): Place[] =>
  Array.from({ length: count }, () => ({ ra: FIELD.ra - 3 + 6 * random(), dec: FIELD.dec - 3 + 6 * random() }));
/** Positions at most 3 arcsec from others, and as many elsewhere. */
const beside = (others: readonly Place[]): Place[] =>
  others.flatMap(({ ra, dec }) => [
    { ra: ra + (6 * random() - 3) / 3600, dec: dec + (2 * random() - 1) / 3600 },
    ...places(1),
  ]);

/** Positions around the poles and on both sides of right ascension 0. */
const EDGES: readonly Place[] = Array.from({ length: 600 }, (_, i) => {
  if (i % 3 === 0) return { ra: (359.5 + random()) % 360, dec: 10 * random() };
  return { ra: 360 * random(), dec: i % 3 === 1 ? 90 - random() : random() - 90 };
});
const STARS = [...places(40_000), ...EDGES];
const OBJECTS = beside(STARS.slice(0, 150));
const UPLOADED = beside(STARS.slice(200, 5200));

/** A catalog, each of whose rows has a position. */
interface Rows extends Omit<WrittenCatalog, 'ra' | 'dec'> {
  readonly ra: ArrayLike<number>;
  readonly dec: ArrayLike<number>;
}

interface Sky {
  readonly app: TestApp;
  readonly gaia: Rows;
  /** DES, at another host. */
  readonly des: Rows;
  readonly server: RangeServer;
  readonly world: World;
}

type Context = Omit<Sky, 'app'>;

test.before(async context => {
  const world = new World(mkdtempSync(join(tmpdir(), 'nearsky-test-')));
  const server = await serveFiles(world.directory);
  const shape = { maxRows: 3000, rowGroupSize: 500 };
  const ids = STARS.map(({ ra, dec }, row) => (BigInt(pixelOf(12, ra, dec)) << 35n) + BigInt(row));
  const gaia = (await world.addCatalog('gaia_dr3', STARS, shape, ids)) as Rows;
  const des = world.writeCatalog('des_y6_gold', beside(STARS.slice(0, 15_000)), {
    maxRows: 6000,
    rowGroupSize: 1000,
  }) as Rows;
  await world.register({ name: 'des_y6_gold', location: `${server.url}/des_y6_gold` });
  await world.ingest(OBJECTS);
  await world.crossmatch();
  Object.assign(context, { gaia, des, server, world });
});

test.after(async ({ world, server }) => {
  await server.close();
  await world.store.close();
  rmSync(world.directory, { recursive: true, force: true });
});

async function inSky(
  context: Context,
  use: (sky: Sky) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<void> {
  const app = new TestApp(join(context.world.directory, 'data'), { TAP_QUERY_SECONDS: '120', ...settings });
  try {
    await use({ ...context, app });
  } finally {
    await app.app.close();
  }
}

async function ask(
  { app }: Pick<Sky, 'app'>,
  query: string,
  upload?: string,
  more: Readonly<Record<string, string>> = {},
) {
  const form = new FormData();
  const fields = { LANG: 'ADQL', QUERY: query, FORMAT: 'csv', ...(upload && { UPLOAD: 'mine,param:table' }), ...more };
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  if (upload) form.set('table', new Blob([upload]), 'mine.csv');
  const encoded = new Response(form);
  const headers = { 'Content-Type': encoded.headers.get('Content-Type')! };
  const body = await encoded.bytes();
  for (;;) {
    const answer = await app.get('/vo/tap/sync', { method: 'POST', headers, body });
    if (answer.status !== 503) return answer;
    await sleep(200);
  }
}

async function rows(
  sky: Pick<Sky, 'app'>,
  query: string,
  upload?: string,
  more: Readonly<Record<string, string>> = {},
) {
  const { status, text } = await ask(sky, query, upload, more);
  assert.is(status, 200, text);
  return text.trimEnd().split('\n').slice(1);
}

async function refusal(sky: Sky, query: string): Promise<string> {
  const { status, text } = await ask(sky, query);
  assert.is(status, 400, text);
  return text;
}

const idsWithin = ({ ra, dec, id }: Rows, place: Place, degrees: number): string[] =>
  Array.from(id).flatMap((each, row) =>
    separationArcsec(place.ra, place.dec, ra[row]!, dec[row]!) <= 3600 * degrees ? `${each}` : [],
  );

/** Pairs of a row of some positions and a source of a catalog within a radius: every pair in a band of declination is compared. */
function pairs(positions: readonly Place[], { ra, dec, id }: Rows, arcsec: number): string[] {
  const order = [...Array(id.length).keys()].sort((a, b) => dec[a]! - dec[b]!);
  const sorted = order.map(row => dec[row]!);
  const first = (value: number) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! < value) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return positions.flatMap((place, i) => {
    const found: string[] = [];
    const margin = (arcsec * 1.01) / 3600;
    for (let at = first(place.dec - margin); at < order.length && sorted[at]! <= place.dec + margin; at++) {
      const row = order[at]!;
      if (separationArcsec(place.ra, place.dec, ra[row]!, dec[row]!) <= arcsec) found.push(`${i},${id[row]}`);
    }
    return found;
  });
}

const circle = ({ ra, dec }: Place, degrees: number, of = '') =>
  `1 = CONTAINS(POINT(${of}ra, ${of}dec), CIRCLE(${ra}, ${dec}, ${degrees}))`;
const within = (a: string, b: string, arcsec: number) =>
  `DISTANCE(POINT(${a}.ra, ${a}.dec), POINT(${b}.ra, ${b}.dec)) <= ${arcsec} / 3600.0`;

const csvOf = (positions: readonly Place[]) =>
  `n,ra,dec\n${positions.map(({ ra, dec }, i) => `${i},${ra},${dec}`).join('\n')}\n`;

check('cones, areas, ids and the first rows of a catalog', context =>
  inSky(context, async sky => {
    const { gaia } = sky;
    for (const degrees of [0.1, 0.7]) {
      const found = await rows(sky, `SELECT source_id FROM gaia_dr3.sources WHERE ${circle(FIELD, degrees)}`);
      assert.equal(found.sort(), idsWithin(gaia, FIELD, degrees).sort());
      assert.ok(found.length > 10);
    }
    const magnitude = gaia.columns.find(({ name }) => name === 'phot_g_mean_mag')!.data;
    const inBox = Array.from(gaia.id).flatMap((id, row) =>
      Math.abs(gaia.ra[row]! - 60) < 1 && Math.abs(gaia.dec[row]! + 50) < 0.5 && (magnitude[row] as number) > 5000
        ? `${id}`
        : [],
    );
    const box = "CONTAINS(POINT('ICRS', ra, dec), POLYGON(59, -50.5, 61, -50.5, 61, -49.5, 59, -49.5)) = 1";
    const bright = await rows(
      sky,
      `SELECT source_id, ra, dec FROM gaia_dr3.sources WHERE ${box} AND phot_g_mean_mag > 5000`,
    );
    // The edges of a polygon are great circles.
    const difference = bright.map(row => row.split(',')[0]!).filter(id => !inBox.includes(id)).length;
    assert.ok(difference < 0.02 * inBox.length && Math.abs(bright.length - inBox.length) < 0.02 * inBox.length);
    assert.ok(inBox.length > 100);
    const [first, second] = Array.from(gaia.id);
    const named = await rows(sky, `SELECT source_id FROM gaia_dr3.sources WHERE source_id IN (${first}, ${second}, 7)`);
    assert.equal(named.sort(), [`${first}`, `${second}`].sort());
    assert.equal(await rows(sky, `SELECT ra FROM gaia_dr3.sources WHERE ${second} = source_id`), [`${gaia.ra[1]}`]);
    assert.is((await rows(sky, 'SELECT TOP 7 * FROM gaia_dr3.sources')).length, 7);
    assert.is((await rows(sky, 'SELECT * FROM gaia_dr3.sources', undefined, { MAXREC: '3' })).length, 3);
    const joined = await rows(
      sky,
      'SELECT m.catalog_source_id, s.source_id, s.ra - m.source_ra FROM nearsky.gaia_dr3_matches AS m JOIN gaia_dr3.sources AS s ON s.source_id = m.catalog_source_id',
    );
    assert.ok(joined.length > 20);
    for (const row of joined) assert.is(row.split(',')[0], row.split(',')[1]);
    assert.ok(
      joined.every(row => row.endsWith(',0') || row.endsWith(',0.0')),
      joined[0],
    );
    assert.is((await rows(sky, 'SELECT COUNT(*) FROM gaia_dr3.sources'))[0], `${gaia.id.length}`);
  }),
);

check('joins by position with an upload, the objects and another catalog', context =>
  inSky(context, async sky => {
    const { gaia, des } = sky;
    const found = await rows(
      sky,
      `SELECT m.n, s.source_id FROM TAP_UPLOAD.mine AS m JOIN gaia_dr3.sources AS s ON ${within('m', 's', 5)}`,
      csvOf(UPLOADED),
    );
    const truth = pairs(UPLOADED, gaia, 5);
    assert.is(UPLOADED.length, 10_000);
    assert.ok(truth.length > 4000);
    assert.equal(found.sort(), truth.sort());
    const left = await rows(
      sky,
      `SELECT m.n, s.source_id FROM TAP_UPLOAD.mine AS m LEFT JOIN gaia_dr3.sources AS s ON ${within('s', 'm', 5)} WHERE m.n < 1000`,
      csvOf(UPLOADED),
    );
    const some = truth.filter(pair => Number(pair.split(',')[0]) < 1000);
    const alone = Array.from({ length: 1000 }, (_, i) => i).filter(i => !some.some(pair => pair.startsWith(`${i},`)));
    assert.equal(left.sort(), [...some, ...alone.map(i => `${i},`)].sort());
    const objects = await rows(
      sky,
      `SELECT o.ra, s.source_id FROM nearsky.objects AS o, gaia_dr3.sources AS s WHERE ${within('o', 's', 3)}`,
    );
    assert.equal(
      objects.sort(),
      pairs(OBJECTS, gaia, 3)
        .map(pair => `${OBJECTS[Number(pair.split(',')[0])]!.ra},${pair.split(',')[1]}`)
        .sort(),
    );
    const both = await rows(
      sky,
      `WITH g AS (SELECT source_id, ra, dec FROM gaia_dr3.sources WHERE ${circle(FIELD, 0.5)})
       SELECT g.source_id, d.COADD_OBJECT_ID FROM g JOIN des_y6_gold.sources AS d ON ${within('g', 'd', 2)}`,
    );
    const inside = [...Array(gaia.id.length).keys()].filter(
      row => separationArcsec(FIELD.ra, FIELD.dec, gaia.ra[row]!, gaia.dec[row]!) <= 1800,
    );
    const cross = pairs(
      inside.map(row => ({ ra: gaia.ra[row]!, dec: gaia.dec[row]! })),
      des,
      2,
    );
    assert.ok(cross.length > 50);
    assert.equal(
      both.sort(),
      cross.map(pair => `${gaia.id[inside[Number(pair.split(',')[0])]!]},${pair.split(',')[1]}`).sort(),
    );
  }),
);

check('of a catalog at another host, the files and columns near the area are fetched, and never all', context =>
  inSky(
    context,
    async sky => {
      const { des, server } = sky;
      // The engine is ready.
      await rows(sky, 'SELECT TOP 1 * FROM nearsky.objects');
      server.asked.length = 0;
      server.bytes = 0;
      const query = `SELECT COADD_OBJECT_ID FROM des_y6_gold.sources WHERE ${circle(FIELD, 0.1)}`;
      const truth = idsWithin(des, FIELD, 0.1);
      assert.ok(truth.length > 10);
      assert.equal((await rows(sky, query)).sort(), truth.sort());
      const files = new Set(server.asked.map(({ path }) => path));
      const sizes = des.partitions.flatMap(each => each.files.map(file => statSync(join(des.location, file)).size));
      const whole = sizes.reduce((sum, size) => sum + size, 0);
      const counts = `${server.asked.length} requests, ${files.size} of ${sizes.length} files, ${server.bytes} of ${whole} bytes`;
      assert.ok(files.size <= 4 && sizes.length > 10, counts);
      // The end of each file, and the columns of its row groups.
      assert.ok(server.asked.length <= 8 * files.size && server.bytes < whole / 8, counts);
      server.asked.length = 0;
      for (const [all, word] of [
        ['SELECT COUNT(*) FROM des_y6_gold.sources', 'all of des_y6_gold.sources'],
        ['SELECT COADD_OBJECT_ID FROM des_y6_gold.sources WHERE DNF_Z > 1', 'all of des_y6_gold.sources'],
        ['SELECT TOP 5 COADD_OBJECT_ID FROM des_y6_gold.sources ORDER BY DNF_Z', 'all of des_y6_gold.sources'],
        [
          `SELECT COUNT(*) FROM des_y6_gold.sources WHERE ${circle(FIELD, 0.1)} OR DNF_Z > 1`,
          'all of des_y6_gold.sources',
        ],
        ['SELECT COUNT(*) FROM nearsky.objects AS o LEFT JOIN des_y6_gold.sources AS s ON o.ra = s.DNF_Z', 'all of'],
      ] as const)
        assert.ok((await refusal(sky, all)).includes(word), all);
      assert.is(server.asked.length, 0);
    },
    { CATALOG_CACHE_MAX_BYTES: '0' },
  ),
);

check('what would read more of a catalog than a query may is refused, with the bound', context =>
  inSky(
    context,
    async sky => {
      assert.is(
        (await rows(sky, `SELECT source_id FROM gaia_dr3.sources WHERE ${circle(FIELD, 0.1)}`)).length > 10,
        true,
      );
      assert.match(
        await refusal(
          sky,
          'SELECT SUM(ra), SUM(dec), MAX(source_id), MAX(phot_g_mean_mag), MAX(parallax), MAX(pmra), MAX(pmdec) FROM gaia_dr3.sources',
        ),
        '1 MiB',
      );
    },
    { TAP_MAX_SOURCES_MIB: '1' },
  ),
);

/** Queries over S, the sources, and U, an upload. */
const SHAPE = 'CIRCLE(61, -49, 0.8)';
const near = (a: string, b: string, degrees: string) =>
  `1 = CONTAINS(POINT(${a}.ra, ${a}.dec), CIRCLE(${b}.ra, ${b}.dec, ${degrees}))`;
const QUERIES = [
  `SELECT COUNT(*), MIN(mag) FROM S WHERE 1 = CONTAINS(POINT(ra, dec), ${SHAPE})`,
  `SELECT ROUND(mag / 100, 0) AS m, COUNT(*) FROM S WHERE CONTAINS(POINT(ra, dec), ${SHAPE}) = 1 GROUP BY ROUND(mag / 100, 0)`,
  'SELECT source_id FROM S WHERE 1 = CONTAINS(POINT(ra, dec), BOX(61, -49, 1, 0.5)) AND 0 = CONTAINS(POINT(ra, dec), CIRCLE(61, -49, 0.3))',
  `SELECT source_id FROM S WHERE 1 = CONTAINS(POINT(ra, dec), MOC(8, ${SHAPE})) AND mag IS NOT NULL`,
  'SELECT source_id FROM S WHERE 1 = INTERSECTS(CIRCLE(ra, dec, 0.1), CIRCLE(61, -49, 0.2))',
  'SELECT source_id FROM S WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(61, -49, 0.2)) OR 1 = CONTAINS(POINT(ra, dec), CIRCLE(62, -48, 0.2))',
  `SELECT u.n, s.source_id FROM U AS u LEFT JOIN S AS s ON ${near('s', 'u', '0.002')} AND s.mag > 80`,
  `SELECT u.n, s.source_id FROM S AS s RIGHT JOIN U AS u ON ${near('u', 's', '0.002')} AND u.n < 40`,
  `SELECT u.n, s.source_id FROM S AS s LEFT JOIN U AS u ON ${near('u', 's', '0.002')} WHERE 1 = CONTAINS(POINT(s.ra, s.dec), ${SHAPE})`,
  `SELECT u.n, s.source_id FROM S AS s FULL JOIN U AS u ON ${near('u', 's', '0.002')} WHERE 1 = CONTAINS(POINT(s.ra, s.dec), ${SHAPE})`,
  `SELECT COUNT(*), COUNT(u.n), COUNT(s.mag) FROM S AS s FULL JOIN U AS u ON ${near('u', 's', '0.002')}`,
  `SELECT u.n, s.source_id, v.n FROM U AS u JOIN (U AS v LEFT JOIN S AS s ON ${near('s', 'v', '0.003')}) ON u.n = v.n + 1`,
  `SELECT u.n FROM U AS u WHERE EXISTS (SELECT * FROM S AS s WHERE ${near('s', 'u', '0.001')} AND s.mag > 80)`,
  `SELECT u.n FROM U AS u WHERE NOT EXISTS (SELECT 1 FROM S AS s WHERE ${near('s', 'u', '0.001')})`,
  `SELECT u.n FROM U AS u WHERE u.n IN (SELECT v.n FROM U AS v, S AS s WHERE ${near('s', 'v', '0.001')})`,
  `SELECT a.source_id, b.source_id FROM S AS a JOIN S AS b ON ${near('a', 'b', '0.01')} AND a.source_id < b.source_id WHERE 1 = CONTAINS(POINT(a.ra, a.dec), ${SHAPE})`,
  `WITH s AS (SELECT source_id, ra, dec, mag FROM S WHERE 1 = CONTAINS(POINT(ra, dec), ${SHAPE})) SELECT a.source_id, u.n FROM s AS a, U AS u WHERE ${near('a', 'u', '0.002')} UNION SELECT source_id, NULL FROM s WHERE mag < 200`,
  `SELECT u.n, s.mag FROM U AS u JOIN S AS s ON ${near('s', 'u', 'u.r')} WHERE u.n BETWEEN 10 AND 60`,
  `SELECT u.n, s.mag, t.mag FROM U AS u LEFT JOIN S AS s ON ${near('s', 'u', '0.002')} LEFT JOIN S AS t ON ${near('t', 'u', '0.001')} AND t.mag < s.mag`,
  'SELECT source_id FROM S WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(359.99, 5, 2))',
  'SELECT source_id FROM S WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(120, 89.8, 0.5))',
  'SELECT source_id FROM S WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(0, -89.5, 120, -89.5, 240, -89.5))',
  'SELECT source_id FROM S WHERE 1 = CONTAINS(POINT(ra, dec), BOX(0, 5, 0.4, 4))',
  `SELECT a.n, u.n, s.source_id FROM U AS a LEFT JOIN (U AS u JOIN S AS s ON ${near('s', 'u', '0.002')}) ON a.n = u.n WHERE u.r IS NULL`,
  `SELECT a.n, u.n, s.source_id FROM (U AS u LEFT JOIN S AS s ON ${near('s', 'u', '0.002')}) RIGHT JOIN U AS a ON a.n = u.n AND s.mag > 80 WHERE u.r IS NULL`,
  `SELECT o.n, s.source_id FROM (SELECT TOP 60 n, ra, dec FROM U ORDER BY n DESC) AS o JOIN S AS s ON ${near('s', 'o', '0.002')}`,
  `SELECT COUNT(*) - COUNT(s.source_id) FROM (SELECT n, ra, dec FROM U WHERE RAND() < 0.5 AND MOD(n, 2) = 0) AS o LEFT JOIN S AS s ON ${near('s', 'o', '0.002')}`,
  `WITH o AS (SELECT n, ra, dec FROM U WHERE RAND() < 0.5) SELECT COUNT(*) - COUNT(p.n) FROM o LEFT JOIN (SELECT o.n FROM o JOIN S AS s ON ${near('s', 'o', '0.1')} GROUP BY o.n) AS p ON o.n = p.n`,
  `SELECT u.n FROM U AS u WHERE EXISTS (SELECT 1 FROM (SELECT ra, dec FROM U AS v WHERE v.n = u.n + 2) AS w JOIN S AS s ON ${near('s', 'w', '0.002')})`,
  `SELECT o.n FROM (SELECT n, ra, dec FROM U WHERE n < 100) AS o JOIN S AS s ON ${near('s', 'o', '0.002')} AND o.n > 20`,
];

check('a column that all files of a catalog lack, or some of them, is null there', () =>
  inWorld(async world => {
    const [MISSING, PARTIAL] = ['phot_bp_mean_mag', 'phot_rp_mean_mag'];
    const definition = catalogDefinition('gaia_dr3')!;
    const stars = Array.from({ length: 100 }, (_, i) => ({ ra: i < 60 ? 10 : 200, dec: i / 100 }));
    const columns = catalogColumns(
      definition,
      stars.map(({ ra }) => ra),
      stars.map(({ dec }) => dec),
    ).filter(({ name }) => name !== MISSING);
    const write = (directory: string, names: (name: string) => boolean) => {
      const location = join(world.directory, directory);
      const written = { name: 'gaia_dr3', columns: columns.filter(({ name }) => names(name)), ra: 'ra', dec: 'dec' };
      return { location, partitions: writeHats(location, written) };
    };
    const { location, partitions } = write('gaia', () => true);
    const other = write('other', name => name !== PARTIAL);
    const options = { addedAtUs: 0, allowMissing: true };
    await world.writer.commit({
      kind: 'register_catalog',
      registration: await registerCatalog(definition, location, options),
    });
    const [file] = partitions.find(({ rows }) => rows === 40)!.files;
    copyFileSync(join(other.location, file!), join(location, file!));
    await world.ingest([{ ra: 10, dec: 0 }]);
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '120' });
    try {
      const count = (where: string) => rows({ app }, `SELECT COUNT(*) FROM gaia_dr3.sources WHERE ${where}`);
      assert.equal(await count(`${MISSING} IS NULL`), ['100']);
      const partial = columns.find(({ name }) => name === PARTIAL)!.data;
      const nulls = Array.from(partial).filter((value, i) => i >= 60 || value === null).length;
      assert.equal(await count(`${PARTIAL} IS NULL`), [`${nulls}`]);
      const { text } = await ask({ app }, `SELECT TOP 5 ${MISSING} FROM gaia_dr3.sources`);
      assert.is(text, `${MISSING}\n${'""\n'.repeat(5)}`);
    } finally {
      await app.app.close();
    }
  }),
);

check('a catalog that was replaced or described anew since the tables were made cannot be read', () =>
  inWorld(async world => {
    const config = configOf(join(world.directory, 'data'));
    const logged: unknown[] = [];
    const uploads = uploadsOf({ config, log: () => {}, admission: new ClientAdmission(), hasSpareProcess: true });
    const { childMemory: memory, reading: processes } = uploads;
    const reader = new SourceReader(adqlSettings.of(config), (_event, fields) => logged.push(fields), processes);
    const columns = (['mag', 'id'] as const).map(
      name => ({ name, type: name === 'id' ? 'int64' : 'float64' }) as const,
    );
    await putOneSource(world, 'mine', 'mag');
    const mine = readCatalog(world.store.databases, 'mine')!;
    const catalog = mine.definition!;
    const part = {
      part: 0,
      catalog: 'mine',
      digest: digestOf(catalog),
      columns,
      bounds: undefined,
      rows: undefined,
      isFar: false,
    };
    const read = () =>
      reader.inTime('a', new Budget(60), new AbortController().signal)([part], join(world.directory, 'parts'));
    try {
      assert.equal((await read())[0]!.columns, ['mag', 'id']);
      await world.writer.commit({
        kind: 'register_catalog',
        registration: { ...mine, definition: { ...catalog, release: 'the next one' } },
      });
      const error = await read().catch((failure: unknown) => failure);
      assert.instance(error, Unavailable);
      assert.match(JSON.stringify(logged), 'mine was replaced or described anew since the tables were made');
    } finally {
      processes.close();
      memory.close();
    }
  }),
);

check('queries over parts of a catalog have the rows of the same queries over all of it, sent as a table', context =>
  inSky(context, async sky => {
    const { gaia } = sky;
    const magnitude = gaia.columns.find(({ name }) => name === 'phot_g_mean_mag')!.data;
    const all = Array.from(gaia.id, (id, row) => `${id},${gaia.ra[row]},${gaia.dec[row]},${magnitude[row] ?? ''}`);
    const types = { source_id: 'int64', ra: 'float64', dec: 'float64', mag: 'float32' };
    const declared = Object.entries(types).map(([name, type]) => `# - {name: ${name}, datatype: ${type}}\n`);
    const ecsv = `# %ECSV 1.0\n# ---\n# delimiter: ','\n# datatype:\n${declared.join('')}`;
    const everything = `${ecsv}${Object.keys(types)}\n${all.join('\n')}\n`;
    const mine = `n,ra,dec,r\n${[...UPLOADED.slice(0, 150), ...beside(EDGES.slice(0, 30))]
      .map(({ ra, dec }, i) => `${i},${ra},${dec},${i % 7 === 0 ? '' : (i % 5) / 2000}`)
      .join('\n')}\n`;
    const asked = async (query: string) => {
      const form = new FormData();
      const parts = { mine, everything };
      const upload = Object.keys(parts).map(name => `${name},param:${name}`);
      for (const [name, value] of Object.entries({
        LANG: 'ADQL',
        QUERY: query,
        FORMAT: 'csv',
        UPLOAD: upload.join(';'),
      }))
        form.set(name, value);
      for (const [name, text] of Object.entries(parts)) form.set(name, new Blob([text]), `${name}.csv`);
      const encoded = new Response(form);
      const headers = { 'Content-Type': encoded.headers.get('Content-Type')! };
      const { status, text } = await sky.app.get('/vo/tap/sync', {
        method: 'POST',
        headers,
        body: await encoded.bytes(),
      });
      assert.is(status, 200, `${query}: ${text}`);
      return text.trimEnd().split('\n').slice(1).sort();
    };
    for (const query of QUERIES) {
      const over = (sources: string) => query.replaceAll(/\bS\b/g, sources).replaceAll(/\bU\b/g, 'TAP_UPLOAD.mine');
      const own = over('gaia_dr3.sources').replaceAll(/\bmag\b/g, 'phot_g_mean_mag');
      const expected = await asked(over('TAP_UPLOAD.everything'));
      assert.ok(expected.length > 0, query);
      assert.equal(await asked(own), expected, query);
    }
  }),
);

// The last test of this archive, because it changes the archive.
check(
  'at an earlier entry sources and sent tables are joined with the objects of then, also after a catalog is replaced',
  context =>
    inSky(context, async sky => {
      const { gaia, world } = sky;
      await world.writer.keepHistory(true);
      world.store.resetRead();
      const then = { AT: `${world.store.lastSequence()}` };
      const near = `o JOIN gaia_dr3.sources AS s ON ${within('o', 's', 5)}`;
      const questions: readonly (readonly [query: string, upload?: string])[] = [
        [`SELECT o.diaObjectId, s.source_id FROM objects AS ${near}`],
        [
          `SELECT m.n, o.diaObjectId FROM TAP_UPLOAD.mine AS m JOIN objects AS o ON ${within('m', 'o', 1)}`,
          csvOf(OBJECTS),
        ],
        ['SELECT diaObjectId, separation_arcsec FROM gaia_dr3_matches'],
      ];
      const answers = async (more?: Readonly<Record<string, string>>) => {
        const found = [];
        for (const [query, upload] of questions) found.push((await rows(sky, query, upload, more)).sort());
        return found;
      };
      const before = await answers();
      for (const each of before) assert.ok(each.length > 50, `${each.length}`);
      await world.ingest(OBJECTS.slice(0, 10), 5n);
      await eventually(
        'the new objects',
        async () => (await rows(sky, ...questions[1]!)).length >= before[1]!.length + 10 || undefined,
      );
      assert.equal(await answers(then), before);
      await nearsky(
        'catalog',
        'replace',
        'gaia_dr3',
        gaia.location,
        '--release',
        'Two',
        '--data',
        join(world.directory, 'data'),
      );
      assert.equal(await answers(then), before);
    }),
);

/** Imports sources by hats-import, and finds those of a cone and the pairs with other positions by LSDB. */
const LSDB = `
import json, sys
import lsdb, pandas
from hats_import.catalog.arguments import ImportArguments
from hats_import.pipeline import pipeline
stars, mine, directory, ra, dec, degrees = sys.argv[1:7]
if __name__ == "__main__":
    pipeline(ImportArguments(
        output_path=directory, output_artifact_name="stars", input_file_list=[stars], file_reader="csv",
        ra_column="ra", dec_column="dec", sort_columns="id", pixel_threshold=2000, highest_healpix_order=9,
        dask_n_workers=1, dask_threads_per_worker=1, progress_bar=False, simple_progress_bar=False,
    ))
    catalog = lsdb.open_catalog(directory + "/stars")
    cone = catalog.cone_search(ra=float(ra), dec=float(dec), radius_arcsec=3600 * float(degrees)).compute()
    other = lsdb.from_dataframe(pandas.read_csv(mine), ra_column="ra", dec_column="dec", catalog_name="mine", margin_threshold=10)
    pairs = catalog.crossmatch(other, radius_arcsec=5, n_neighbors=100, suffixes=("_a", "_b"), suffix_method="all_columns").compute()
    print(json.dumps({
        "cone": [str(each) for each in cone["id"]],
        "colours": [str(each) for each in cone[cone["b"] - cone["r"] > 1]["id"]],
        "pairs": [f"{n},{id}" for n, id in zip(pairs["n_b"], pairs["id_a"])],
    }))
`;
const MODULES = 'lsdb, hats, hats_import';
const python = pythonWith(MODULES);

needs(test, whyNoPython(MODULES) ?? duckdbObstacle())(
  'a catalog that hats-import has written has the cones and pairs that LSDB finds',
  () =>
    inWorld(async world => {
      const written = (name: string, header: string, lines: readonly string[]) => {
        const path = join(world.directory, name);
        writeFileSync(path, `${header}\n${lines.join('\n')}\n`);
        return path;
      };
      const stars = STARS.map(({ ra, dec }, i) => `${i},${ra},${dec},${i % 30},${i % 7 ? i % 28 : ''}`);
      const files = [
        written('stars.csv', 'id,ra,dec,b,r', stars),
        written('mine.csv', 'n,ra,dec', csvOf(UPLOADED).trimEnd().split('\n').slice(1)),
      ];
      const script = written('find.py', '', [LSDB]);
      const catalogs = join(world.directory, 'catalogs');
      mkdirSync(catalogs);
      const args = [...files, catalogs, `${FIELD.ra}`, `${FIELD.dec}`, '0.4'];
      const truth = JSON.parse(
        (await runPython(python!, [script, ...args], { timeout: 600_000 })).trim().split('\n').at(-1)!,
      );
      const definition = { name: 'stars', idColumn: 'id', description: {} };
      await world.writer.commit({
        kind: 'register_catalog',
        registration: await registerCatalog(definition, join(catalogs, 'stars'), { addedAtUs: 1 }),
      });
      const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '120' });
      try {
        const sky = { app };
        const cone = `FROM stars.sources WHERE ${circle(FIELD, 0.4)}`;
        assert.equal((await rows(sky, `SELECT id ${cone}`)).sort(), truth.cone.sort());
        assert.equal((await rows(sky, `SELECT id ${cone} AND b - r > 1`)).sort(), truth.colours.sort());
        const pairs = await rows(
          sky,
          'SELECT m.n, s.id FROM TAP_UPLOAD.mine AS m JOIN stars.sources AS s ON DISTANCE(POINT(m.ra, m.dec), POINT(s.ra, s.dec)) <= 5 / 3600.0',
          csvOf(UPLOADED),
        );
        assert.equal(pairs.sort(), truth.pairs.sort());
        assert.ok(truth.cone.length > 100 && truth.colours.length > 1 && truth.pairs.length > 4000);
      } finally {
        await app.app.close();
      }
    }),
);

test.run();
