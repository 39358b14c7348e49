/** ADQL queries over HTTP: the rows of the tables compared with the stored objects, and the refused queries. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTable } from '@nearsky/astrotables';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registryRecord } from '../../../src/capabilities/adql/record.ts';
import { EXAMPLES } from '../../../src/capabilities/adql/tap_formats.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { Catalogs, catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { readCatalogs } from '../../../src/core/store/catalog_registration.ts';
import { catalogColumns } from '../../core/catalogs/small_catalog.ts';
import { writeHats } from '../../core/catalogs/write_hats.ts';
import { CENTRES, storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { configOf, type Running, startApp, type World } from '../../core/http/support.ts';
import { withServer } from '../../core/server/support.ts';
import { hasStilts, python, runBeside, votlint, withFolder, writeFiles } from '../../core/tables/clients.ts';
import { infosOf, rowsOf } from '../../core/tables/read_votable.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { ask, csv } from './ask.ts';

const test = suite<{ running: Running }>('tap');
const obstacle = duckdbObstacle();
const check = needs(test, obstacle);
const slow =
  obstacle ?? (process.env.TEST_TAP ? undefined : 'it waits for a later snapshot or asks much: TEST_TAP=1 runs it');

const OBJECTS = trueObjects(400);
const LATER = trueObjects(420).slice(400);

/** A catalog with a source at each object. */
async function addGaia({ directory, writer }: World): Promise<void> {
  const location = join(directory, 'gaia');
  const gaia = catalogDefinition('gaia_dr3')!;
  const [ra, dec] = (['ra', 'dec'] as const).map(part => OBJECTS.map(({ position }) => position[part]));
  const columns = catalogColumns(gaia, ra!, dec!);
  writeHats(location, { name: gaia.name, columns, ra: gaia.raColumn, dec: gaia.decColumn, maxRows: 100 });
  await writer.commit({
    kind: 'register_catalog',
    registration: await registerCatalog(gaia, location, { addedAtUs: 1 }),
  });
}

test.before(async context => {
  const fill = async (world: World) => {
    await storeObjects(world, OBJECTS);
    await addGaia(world);
  };
  context.running = await startApp(fill, {
    TAP_QUERY_SECONDS: '8',
    TAP_MAX_RECORDS: '5000',
    TAP_MEMORY_MIB: '128',
    VO_IDENTIFIER: 'ivo://example.org/near.sky',
    VO_PUBLISHER: 'A & B',
  });
});

test.after(({ running }) => running.close());

check('objects and matches are what was stored, with every digit of their ids', async ({ running }) => {
  const rows = await csv(
    running,
    'SELECT diaObjectId, ra, dec, status, reliability FROM nearsky.objects ORDER BY diaObjectId',
  );
  assert.equal(
    rows.map(([id, ra, dec]) => [id, Number(ra), Number(dec)]),
    OBJECTS.map(({ id, position }) => [`${id}`, position.ra, position.dec]),
  );
  const sources = await csv(running, 'SELECT diaObjectId, catalog_name, catalog_source_id FROM matches');
  const stored = OBJECTS.filter(({ state }) => state !== 'pending').flatMap(({ id, sources }) =>
    sources.map(source => [`${id}`, source.catalog, source.id].join()),
  );
  assert.equal(sources.map(row => row.join()).sort(), stored.sort());
  const gaia = await csv(running, 'SELECT catalog_source_id FROM gaia_dr3_matches');
  assert.equal(
    gaia.flat().sort(),
    stored.flatMap(each => (each.includes(',gaia_dr3,') ? each.split(',')[2]! : [])).sort(),
  );
});

check('HEAD ends a query [Routes]', async ({ running: { app } }) => {
  const query = encodeURIComponent('SELECT a.*, b.* FROM objects AS a, objects AS b');
  // More than there are slots for queries.
  for (let i = 0; i < 6; i++) {
    const { status, headers, text } = await app.get(`/vo/tap/sync?LANG=ADQL&QUERY=${query}`, { method: 'HEAD' });
    assert.equal([status, text], [200, '']);
    assert.match(headers.get('Content-Type') ?? '', 'application/x-votable+xml');
  }
});

check('a circle has the objects that lie in it', async ({ running }) => {
  for (const { ra, dec } of CENTRES) {
    const where = `CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS', ${ra}, ${dec}, 0.2)) = 1`;
    const rows = await csv(running, `SELECT diaObjectId FROM objects WHERE ${where} ORDER BY 1`);
    const inside = OBJECTS.filter(({ position }) => separationArcsec(ra, dec, position.ra, position.dec) <= 720);
    assert.equal(
      rows.flat(),
      inside.map(({ id }) => `${id}`),
    );
    assert.ok(rows.length > 5);
  }
});

check('outcomes are a row a catalog and object', async ({ running }) => {
  const rows = await csv(running, 'SELECT outcome, COUNT(*) FROM crossmatches GROUP BY outcome ORDER BY outcome');
  const crossmatched = OBJECTS.filter(({ state }) => state !== 'unrecorded');
  const searched = crossmatched.reduce((sum, each) => sum + each.searched.length, 0);
  const all = crossmatched.length * new Set(OBJECTS.flatMap(each => each.searched)).size;
  assert.equal(rows, [
    ['outside_footprint', `${all - searched}`],
    ['searched', `${searched}`],
  ]);
});

check('TAP_SCHEMA and /tables describe the same, and every column can be asked for', async ({ running }) => {
  const columns = await csv(
    running,
    'SELECT table_name, column_name, datatype FROM TAP_SCHEMA.columns ORDER BY 1, column_index',
  );
  const { text } = await running.app.get('/vo/tap/tables');
  const described = [...text.matchAll(/<table type="table">\n<name>([^<]*)<[\s\S]*?<\/table>/g)].flatMap(
    ([table, name]) =>
      [...table.matchAll(/<column><name>([^<]*)<.*<dataType [^>]*>(\w+)</g)].map(([, column, type]) =>
        [name, column!.replaceAll('&quot;', '"'), type].join(),
      ),
  );
  assert.equal(
    columns
      .map(row =>
        row
          .join()
          .replaceAll('""', '"')
          .replace(/,"("\w+")",/, ',$1,'),
      )
      .sort(),
    described.sort(),
  );
  for (const [table, of] of Map.groupBy(columns, ([table]) => table!)) {
    const list = of.map(([, column]) =>
      column!.startsWith('"') ? column!.slice(1, -1).replaceAll('""', '"') : column,
    );
    const { status, text: answer } = await ask(running, `SELECT TOP 1 ${list.join(', ')} FROM ${table}`);
    assert.is(status, 200, answer);
  }
  const one = await running.app.get('/vo/tap/tables/nearsky.tns');
  assert.match(one.text, '<name>nearsky.tns</name>');
  assert.is((await running.app.get('/vo/tap/tables/nearsky.x')).status, 404);
});

check('an answer says how far it goes, and whether there were more rows', async ({ running }) => {
  const { text, headers } = await ask(running, 'SELECT ra FROM objects', { MAXREC: '3' });
  assert.is(headers.get('Content-Type'), 'application/x-votable+xml');
  assert.is(rowsOf(text).length, 3);
  assert.match(text, /<\/TABLE>\n<INFO name="QUERY_STATUS" value="OVERFLOW"\/>/);
  assert.match(infosOf(text, 'nearsky_journal_entry')[0]!, /^\d+$/);
  assert.ok(Date.parse(infosOf(text, 'nearsky_as_of')[0]!) <= Date.now());
  const whole = await ask(running, 'SELECT TOP 3 ra FROM objects', { MAXREC: '3' });
  assert.not.match(whole.text, 'OVERFLOW');
  const none = await ask(running, 'SELECT ra FROM objects', { MAXREC: '0' });
  assert.is(rowsOf(none.text).length, 0);
  assert.match(none.text, 'OVERFLOW');
});

check('each format has its media type, and the rows', async ({ running }) => {
  const types = {
    votable: 'application/x-votable+xml',
    'votable/b2': 'application/x-votable+xml;serialization=BINARY2',
    'application/x-votable+xml;serialization=BINARY2': 'application/x-votable+xml;serialization=BINARY2',
    'text/xml': 'text/xml',
    csv: 'text/csv; charset=utf-8; header=present',
    tsv: 'text/tab-separated-values; charset=utf-8',
    fits: 'application/fits',
    json: 'application/json',
    ndjson: 'application/x-ndjson',
    parquet: 'application/vnd.apache.parquet',
    arrow: 'application/vnd.apache.arrow.stream',
  };
  for (const [format, type] of Object.entries(types)) {
    const { headers, status, text } = await ask(running, 'SELECT diaObjectId FROM objects', { FORMAT: format });
    assert.equal([status, headers.get('Content-Type')], [200, type], text);
  }
  const lines = (await ask(running, 'SELECT diaObjectId, ingest_time FROM objects ORDER BY 1', { FORMAT: 'ndjson' }))
    .text;
  assert.match(
    lines.split('\n')[0]!,
    new RegExp(`^\\{"diaObjectId": ${OBJECTS[0]!.id}, "ingest_time": "\\d{4}-\\d\\d-\\d\\dT`),
  );
});

check(
  'FITS, JSON and TSV have every value, and the first two and Parquet say where there are more rows',
  async ({ running }) => {
    const query = `SELECT diaObjectId, ra, status, tns_name, ingest_time, tns_checked, reliability, 'a' || CAST(diaObjectId AS VARCHAR) AS "na'me\u00e9" FROM objects ORDER BY diaObjectId`;
    const bytesOf = async (format: string, more: Readonly<Record<string, string>> = {}) => {
      const body = new URLSearchParams({ LANG: 'ADQL', QUERY: query, FORMAT: format, ...more });
      const response = await running.app.app.fetch(
        new Request('http://nearsky.test/vo/tap/sync', { method: 'POST', body }),
      );
      return await response.bytes();
    };
    const textOf = async (format: string, more = {}) => new TextDecoder().decode(await bytesOf(format, more));
    const csv = (await textOf('csv')).trimEnd().split('\n');
    assert.equal(
      (await textOf('tsv')).trimEnd().split('\n'),
      csv.map(line => line.replaceAll(',', '\t')),
    );
    const exact = (_key: string, value: unknown, context?: { source?: string }) =>
      Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(context!.source!) : value;
    const { rows, columns, info, overflow } = JSON.parse(await textOf('json'), exact);
    assert.equal([rows.length, columns[0].name, overflow, info.query], [OBJECTS.length, 'diaObjectId', false, query]);
    assert.equal(rows[0].slice(0, 3), [OBJECTS[0]!.id, OBJECTS[0]!.position.ra, csv[1]!.split(',')[2]]);
    const fits = await bytesOf('fits');
    assert.is(fits.length % 2880, 0);
    const table = await openTable(fits, { maxRows: 1e6, maxBytes: 2 ** 30 }, false);
    assert.equal(
      table.columns.map(({ name, type }) => `${name} ${type}`),
      [
        'diaObjectId int64',
        'ra float64',
        'status text',
        'tns_name text',
        'ingest_time text',
        'tns_checked boolean',
        'reliability float64',
        "na'me? text",
      ],
    );
    for await (const { cells } of table.blocks(table.columns.map((_, i) => i)))
      OBJECTS.forEach(({ id }, row) => {
        const [, ra, status, , time] = csv[row + 1]!.split(',');
        const found = cells.map(of => of[row]);
        assert.equal(found.slice(0, 3), [id, Number(ra), status]);
        assert.equal([`${found[4]}Z`, found[7]], [time, `a${id}`]);
      });
    assert.is(JSON.parse(await textOf('json', { MAXREC: '2' })).overflow, true);
    const header = await textOf('fits', { MAXREC: '2' });
    assert.match(header, /QSTATUS = 'OVERFLOW'/);
    assert.match(header, /NAXIS2 {2}= {20}2/);
    assert.match(await textOf('parquet', { MAXREC: '2' }), 'overflow');
    assert.not.match(await textOf('parquet'), 'overflow');
  },
);

check(
  'the record for registries is made of the settings, and has an identifier of its own without one',
  async ({ running }) => {
    const { text, status, headers } = await running.app.get('/vo/record');
    assert.equal([status, headers.get('Content-Type')], [200, 'text/xml']);
    assert.match(text, '<identifier>ivo://example.org/near.sky</identifier>');
    assert.match(text, '<publisher>A &amp; B</publisher>');
    assert.match(text, '<accessURL use="base">http://nearsky.test/vo/tap</accessURL>');
    assert.match(text, '<name>nearsky.gaia_dr3_matches</name>');
    const catalogs = new Catalogs(readCatalogs(running.world.store.databases));
    const own = registryRecord(configOf('/nowhere'), 'http://near.sky:8080', catalogs, '', false);
    assert.match(own, '<identifier>ivo://near.sky/nearsky</identifier>');
    assert.not.match(own, 'TableAccess');
  },
);

check('what is wrong with a request is a VOTable with status 400', async ({ running }) => {
  const wrong: readonly (readonly [more: Record<string, string>, message: string])[] = [
    [{ QUERY: 'SELECT x FROM objects' }, 'Line 1, column 8: x is not a column of nearsky.objects'],
    [
      { QUERY: 'SELECT CAST(status AS INTEGER) FROM objects' },
      'the query cannot be carried out: a value cannot be converted to the type of its CAST',
    ],
    [{ QUERY: '' }, 'Cannot answer without QUERY'],
    [{ LANG: 'PQL' }, 'LANG must be one of ADQL'],
    [{ LANG: '' }, 'Cannot answer without LANG'],
    [{ MAXREC: '-1' }, 'MAXREC must be an integer'],
    [{ FORMAT: 'docx' }, 'RESPONSEFORMAT must be one of votable'],
    [{ UPLOAD: 'a,ftp://b' }, 'NAME,param:PART or NAME,https://...'],
    [{ UPLOAD: 'a,param:b;A,param:c' }, 'UPLOAD must be a list of tables with different names'],
    [{ REQUEST: 'getCapabilities' }, 'REQUEST must be doQuery'],
  ];
  for (const [more, message] of wrong) {
    const { status, text, headers } = await ask(running, 'SELECT ra FROM objects', more);
    assert.equal([status, headers.get('Content-Type')], [400, 'application/x-votable+xml']);
    assert.match(text, /<INFO name="QUERY_STATUS" value="ERROR">/);
    assert.ok(text.includes(message), text);
  }
  const query = encodeURIComponent("SELECT COUNT(*) FROM nearsky.objects WHERE status <> '<&>'");
  const { text } = await running.app.get(`/vo/tap/sync?request=doQuery&lang=adql-2.0&query=${query}&format=csv`);
  assert.is(text, `count\n${OBJECTS.length}\n`);
  assert.is(
    (
      await running.app.get('/vo/tap/sync', {
        method: 'POST',
        body: '{}',
        headers: { 'Content-Type': 'application/json' },
      })
    ).status,
    400,
  );
});

check('no query reads files, settings or functions of the engine', async ({ running }) => {
  const hostile = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    'SELECT * FROM duckdb_settings',
    'SELECT * FROM information_schema.tables',
    'SELECT * FROM exported_objects',
    'SELECT * FROM temp.main.exported_objects',
    'SELECT * FROM sqlite_master',
    "SELECT getenv('HOME') FROM objects",
    "SELECT current_setting('memory_limit') FROM objects",
    "ATTACH 'x.db'",
    "COPY objects TO 'x'",
    'INSTALL httpfs',
    'LOAD httpfs',
    'PRAGMA database_list',
    'SET memory_limit = 1',
    'SELECT ra FROM objects; SELECT 1 FROM objects',
    "SELECT ra FROM objects WHERE status = 'x' OR read_text('/etc/passwd') = 'y'",
    'SELECT ra FROM objects --\n; DROP TABLE objects',
    'SELECT "ra" "; DROP TABLE objects" FROM objects WHERE "ra\u0000" = 1',
    'SELECT t1."ra" FROM objects WHERE t1.ra = 1',
    'SELECT c1 FROM objects',
    'SELECT adql_distance(1, 2, 3, 4) FROM objects',
    'SELECT ra FROM objects WHERE ra = ?',
    'SELECT ra FROM objects WHERE ra = :x',
    'SELECT \uff53 FROM objects',
    `SELECT ${'('.repeat(100_000)}1${')'.repeat(100_000)} FROM objects`,
  ];
  for (const query of hostile) {
    const { status, text } = await ask(running, query);
    assert.is(status, 400, `${query.slice(0, 100)}\n${text.slice(0, 500)}`);
  }
});

needs(test, slow)('later objects are found', async ({ running }) => {
  await storeObjects(running.world, LATER);
  const [first] = LATER;
  for (;;) {
    const rows = await csv(running, `SELECT diaObjectId FROM objects WHERE diaObjectId >= ${first!.id}`);
    if (rows.length === LATER.length) break;
    await sleep(300);
  }
});

const served = ({ app }: Running, body: (base: string) => Promise<void>) =>
  withServer(
    (request, peer) => app.app.answer(request, peer),
    ({ port }) => body(`http://127.0.0.1:${port}/vo/tap`),
  );

needs(test, slow ?? (python ? undefined : 'there is no Python with astropy and pyvo'))(
  'pyvo asks, reads the tables and the examples',
  ({ running }) =>
    served(running, async base => {
      const program = [
        'import sys, pyvo',
        'tap = pyvo.dal.TAPService(sys.argv[1])',
        "print('nearsky.matches_history' in tap.tables, len(tap.examples), tap.maxrec)",
        'from astropy.table import Table',
        `mine = Table({'id': [${OBJECTS[0]!.id}, 2**63 - 1]})`,
        "ask = 'SELECT id FROM TAP_UPLOAD.mine ORDER BY id'",
        "print([[int(each) for each in run(ask, uploads={'mine': mine})['id']] for run in (tap.run_sync, tap.run_async)])",
        "rows = tap.run_sync('SELECT diaObjectId, ra, ingest_time FROM nearsky.objects ORDER BY diaObjectId')",
        "print(int(rows['diaObjectId'][0]), len(rows), rows.fieldnames)",
        "try: tap.run_sync('SELECT x FROM nearsky.objects')",
        'except pyvo.DALQueryError as error: print(error)',
      ].join('\n');
      const { out, errors } = await runBeside(python!, ['-c', program, base]);
      assert.is(errors.replaceAll(/^.*Warning.*$\n?/gm, '').trim(), '');
      assert.match(out, new RegExp(`^True ${EXAMPLES.length} 5000$`, 'm'));
      const ids = [OBJECTS[0]!.id, 2n ** 63n - 1n].join(', ');
      assert.ok(out.includes(`[[${ids}], [${ids}]]`), out);
      assert.match(out, `${OBJECTS[0]!.id} ${OBJECTS.length + LATER.length}`);
      assert.match(out, 'Line 1, column 8: x is not a column of nearsky.objects');
    }),
);

needs(test, slow ?? (hasStilts ? undefined : 'there is no stilts'))(
  'taplint finds no error but two that docs/tap.md explains',
  ({ running }) =>
    served(running, async base => {
      const stages = 'stages=TMV TME TMS TMC CPV CAP AVV QGE QPO QAS UWS MDQ UPL EXA';
      const { out } = await runBeside('stilts', ['taplint', `tapurl=${base}`, stages]);
      const found = out.split('\n').flatMap(line => /^[EFW]-(\w+-\w+)-/.exec(line)?.[1] ?? []);
      // docs/tap.md says why. STILTS 3.4.7 does not know the key of COALESCE yet.
      const others = new Set(found.filter(code => code !== 'CAP-KEYX' || !out.includes('#features-adql-conditional')));
      assert.equal([...others].sort(), ['CAP-MUPM', 'CAP-SVR0', 'UPL-TMDA', 'UPL-TSDL']);
      assert.match(out, /^Totals: Errors: [12];.*Failures: 0$/m);
      const { text } = await ask(running, 'SELECT * FROM nearsky.gaia_dr3_matches', { FORMAT: 'votable/b2' });
      assert.equal(votlint(text), []);
    }),
);

needs(test, slow ?? (hasStilts ? undefined : 'there is no stilts'))(
  'tapquery sends a table, at once and in a job; the record is as its schemas say',
  ({ running }) =>
    withFolder(folder =>
      served(running, async base => {
        const table = `id,note\n${OBJECTS[0]!.id},a\n${2n ** 63n - 1n},b\n`;
        const [file, record] = writeFiles(folder, {
          'mine.csv': table,
          'record.xml': (await running.app.get('/vo/record')).text,
        }) as [string, string];
        const upload = ['nupload=1', `upload1=${file}`, 'ufmt1=csv', 'upname1=mine'];
        for (const sync of [true, false]) {
          const adql = 'adql=SELECT u.* FROM TAP_UPLOAD.mine AS u';
          const { out } = await runBeside('stilts', [
            'tapquery',
            `tapurl=${base}`,
            ...upload,
            adql,
            `sync=${sync}`,
            'ofmt=csv',
          ]);
          assert.ok(out.endsWith(table) || out.includes(table), out);
        }
        const schemas = {
          RegistryInterface: join(import.meta.dirname, 'schemas/registry_interface.xsd'),
          ConeSearch: join(import.meta.dirname, 'schemas/cone_search.xsd'),
        };
        const places = Object.entries(schemas).map(([name, path]) => `http://www.ivoa.net/xml/${name}/v1.0=${path}`);
        const validate = ['xsdvalidate', 'uselocals=true', `schemaloc=${places.join(' ')}`, `doc=${record}`];
        assert.equal(await runBeside('stilts', validate), { status: 0, out: '', errors: '' });
      }),
    ),
);

test.run();
