/** POST /api/crossmatch: tables against objects and catalogs, beside a scan of all pairs. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { TableError } from '@nearsky/astrotables';
import { pixelOf, separationArcsec } from '@nearsky/sky-index';
import { parquetMetadata, parquetReadObjects, type SchemaElement } from 'hyparquet';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { TABLE } from '../../../src/capabilities/table_match/channel.ts';
import { type Batch, Pairs } from '../../../src/capabilities/table_match/pairs.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { type Answer, configOf, coordinatorOf, eventually, TestApp } from '../../core/http/support.ts';
import { needs } from '../../needs.ts';
import { HARD_PLACES, offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { inWorld, World, type WrittenCatalog } from '../crossmatch/world.ts';

const test = suite('table_match/crossmatch_table');

/** Places of objects, away from the hard ones and from each other. */
const [SOUTH, OF_FK4, NORTH, PAIR] = [
  { ra: 10, dec: -30 },
  // astropy 8.0.2: FK4(equinox='B1950') of 10, 20 in ICRS
  { ra: 10.658967275715431, dec: 20.2738672156196 },
  { ra: 40, dec: 20 },
  [
    { ra: 1, dec: 3 },
    { ra: 1.0001, dec: 3 },
  ],
] as const;
/** A place without objects, in a partition whose file is missing. */
const UNREAD = { ra: 40, dec: -30 };

/** The world of most tests, and its app; made once, because the processes of an app take most of the time. */
let hard: Readonly<{ app: TestApp; world: World; objects: Target[]; catalogs: Record<string, WrittenCatalog> }>;
let close = async () => {};

test.before(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const world = new World(directory);
  const places = [...hardPlaces(12, 12), SOUTH, OF_FK4, NORTH, ...PAIR];
  const ids = await world.ingest(places);
  const gaia = await world.addCatalog('gaia_dr3', [...hardPlaces(13, 12), SOUTH, NORTH], {
    maxRows: 40,
    rowGroupSize: 10,
  });
  const des = await world.addCatalog('des_y6_gold', [SOUTH, UNREAD], { maxRows: 1 });
  const app = await new TestApp(join(directory, 'data')).ready();
  const objects = places.map((place, i) => ({ ...place, id: ids[i]! }));
  hard = { app, world, objects, catalogs: { gaia_dr3: gaia, des_y6_gold: des } };
  close = async () => {
    await app.app.close();
    await world.store.close();
    rmSync(directory, { recursive: true, force: true });
  };
});

test.after(() => close());

const send = (app: TestApp, search: string, table: string | Uint8Array): Promise<Answer> =>
  app.post(`/api/crossmatch${search}`, table, null);

/** The lines of a CSV answer without quotes in it, as cells by column. */
function rowsOf({ status, text }: Answer): Record<string, string>[] {
  assert.is(status, 200, text.slice(0, 300));
  const [header = '', ...lines] = text.trimEnd().split('\n');
  const names = header.split(',');
  return lines.map(line => Object.fromEntries(line.split(',').map((cell, i) => [names[i]!, cell])));
}

interface Target extends Place {
  readonly id: bigint;
}

/** The pairs of a scan, as the answer lists them: row, id, separation. */
function scan(places: readonly Place[], targets: readonly Target[], radius: number, find: string): string[] {
  return places.flatMap((place, row) => {
    const near = targets
      .map(({ id, ra, dec }) => ({ id, separation: separationArcsec(place.ra, place.dec, ra, dec) }))
      .filter(({ separation }) => separation <= radius)
      .sort((a, b) => a.separation - b.separation || (a.id < b.id ? -1 : 1));
    return (find === 'all' ? near : near.slice(0, 1)).map(({ id, separation }) => `${row} ${id} ${separation}`);
  });
}

function checkWorth(
  found: readonly Record<string, string>[],
  places: readonly Place[],
  sources: readonly Place[],
  radius: number,
): void {
  let known = 0;
  for (const row of found) {
    const place = places[Number(row.name)]!;
    const within = sources
      .map(({ ra, dec }) => separationArcsec(place.ra, place.dec, ra, dec))
      .filter(separation => separation <= radius)
      .sort((a, b) => a - b);
    assert.is(row.nearsky_sources_within_radius, `${within.length}`);
    const second = row.nearsky_second_separation_arcsec!;
    assert.is(second === '', within[1] === undefined);
    // The values are not rounded, so the second nearest source is never nearer than the nearest.
    if (second !== '') assert.ok(Math.abs(Number(second) - within[1]!) < 1e-9, `${second} ${within[1]}`);
    const [chance, density] = [row.nearsky_chance_probability!, row.nearsky_source_density!];
    assert.is(chance === '', density === '');
    if (density === '') continue;
    known++;
    const expected = -Math.expm1((-Math.PI / 3600) * Number(density) * Number(row.nearsky_separation_arcsec) ** 2);
    assert.ok(Math.abs(Number(chance) - expected) <= 5e-3 * expected, `${chance} ${density}`);
  }
  assert.ok(known > 0);
}

/** Places around the hard ones, some of them twice. */
function hardPlaces(seed: number, each: number): Place[] {
  const random = seededRandom(seed);
  const around = HARD_PLACES.flatMap(place =>
    Array.from({ length: each }, () => offset(place, 8 * random() ** 2, 7 * random())),
  );
  return [...HARD_PLACES, ...around, ...around.slice(0, 20)];
}

const csvOf = (places: readonly Place[]) =>
  `name,ra,dec\n${places.map(({ ra, dec }, row) => `${row},${ra},${dec}`).join('\n')}\n`;

test('at hard places, with duplicates and ties: every pair and separation, nearest and all [Crossmatch of a table]', async () => {
  const { app, objects, catalogs } = hard;
  const places = hardPlaces(11, 12);
  const catalog = catalogs.gaia_dr3!;
  const sources = Array.from(catalog.id, (id, row) => ({ id, ra: catalog.ra[row]!, dec: catalog.dec[row]! }));
  const targets = { objects, gaia_dr3: sources };
  for (const [against, all] of Object.entries(targets)) {
    for (const find of ['nearest', 'all']) {
      for (const radius of [0.5, 3, 60]) {
        const search = `?against=${against}&find=${find}&radius_arcsec=${radius}`;
        const rows = rowsOf(await send(app, search, csvOf(places)));
        const id = against === 'objects' ? 'nearsky_diaObjectId' : 'nearsky_source_id';
        const found = rows.filter(row => row.nearsky_status === 'matched');
        const expected = scan(places, all, radius, find);
        assert.equal(
          found.map(row => `${row.name} ${row[id]} ${row.nearsky_separation_arcsec}`),
          expected,
          search,
        );
        if (against === 'gaia_dr3') checkWorth(found, places, sources, radius);
        const names = rows.map(row => Number(row.name));
        assert.equal(
          [...new Set(names)],
          places.map((_, row) => row),
          'every row, in its order',
        );
        const matched = rowsOf(await send(app, `${search}&rows=matched`, csvOf(places)));
        assert.equal(matched, found);
      }
    }
  }
});

test('the status of each row, and every column as it was sent [Crossmatch of a table]', async () => {
  const { app, catalogs } = hard;
  const des = catalogs.des_y6_gold!;
  const far = { ra: 200, dec: 60 };
  const table = [
    'id;ra;dec;"a;""b"""',
    '9007199254740993;10;-30;" x "',
    '-9223372036854775808;350;-1e1;0.10',
    `007;${far.ra};${far.dec};`,
    `1;${UNREAD.ra};${UNREAD.dec};""`,
    '2;;5;é',
    '3;10;91;"two\nlines"',
    '4;nan;0;x',
    '5;1e400;0;=1+1',
    '6;-350;-30;x',
  ].join('\r\n');
  const kept = [
    '9007199254740993,10,-30," x "',
    '-9223372036854775808,350,-1e1,0.10',
    `007,${far.ra},${far.dec},`,
    `1,${UNREAD.ra},${UNREAD.dec},""`,
    '2,,5,é',
    '3,10,91,"two\nlines"',
    '4,nan,0,x',
    '5,1e400,0,=1+1',
    '6,-350,-30,x',
  ];
  const objects = await send(app, '', `\ufeff# a comment\n${table}`);
  const statuses = ['matched', 'no_match', 'no_match', 'no_match', ...Array(4).fill('invalid_position'), 'matched'];
  const [header, ...lines] = objects.text.split(/\n(?=-?\d+,)/);
  assert.ok(header!.startsWith('id,ra,dec,"a;""b""",nearsky_status,nearsky_diaObjectId,'), header);
  for (const [i, line] of lines.entries()) assert.ok(line.startsWith(`${kept[i]},${statuses[i]},`), line);
  assert.equal([objects.headers.get('X-Row-Count'), objects.headers.get('X-Match-Count')], ['9', '2']);
  const gone = des.partitions.find(({ order, ipix }) => ipix === pixelOf(order, UNREAD.ra, UNREAD.dec))!;
  rmSync(join(des.location, gone.files[0]!));
  const against = await send(app, '?against=des_y6_gold', table);
  for (const status of ['matched', 'outside_footprint', 'skipped_read_failure', 'invalid_position'])
    assert.ok(against.text.includes(`,${status},`), `${status}: ${against.text}`);
  assert.ok(against.text.split('\n')[0]!.includes(',nearsky_any_match_probability,des_y6_gold_'));
});

test('Parquet in several row groups, with nulls: copied or decoded, the answer says what that to CSV says [Crossmatch of a table]', async () => {
  const { app } = hard;
  const places = hardPlaces(21, 3);
  const cells = places.map(({ ra, dec }, i) => ({
    id: 2n ** 60n + BigInt(i),
    ra: i % 7 ? ra : null,
    dec,
    count: i % 3 ? 2 ** 31 + i : null,
    mag: i % 5 ? Math.fround(20 + i / 3) : null,
    name: i % 2 ? `n${i % 4}` : null,
    is_new: i % 4 ? i % 2 === 0 : null,
  }));
  const types = {
    id: 'INT64',
    ra: 'DOUBLE',
    dec: 'DOUBLE',
    count: 'INT32',
    mag: 'FLOAT',
    name: 'STRING',
    is_new: 'BOOLEAN',
  };
  const tableOf = (names: (keyof typeof types)[], codec: 'SNAPPY' | 'UNCOMPRESSED') =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: names.map(name => ({ name, data: cells.map(row => row[name]) })),
        schema: [
          { name: 'root', num_children: names.length },
          ...names.map((name): SchemaElement => {
            const repetition_type = cells.some(row => row[name] === null) ? 'OPTIONAL' : 'REQUIRED';
            if (types[name] === 'STRING') return { name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type };
            const unsigned = name === 'count' && ({ converted_type: 'UINT_32' } as const);
            return { name, type: types[name] as 'INT64', ...unsigned, repetition_type };
          }),
        ],
        rowGroupSize: [10, 25],
        codec,
      }),
    );
  const every = Object.keys(types) as (keyof typeof types)[];
  // UINT_32 is decoded to be stored as a wider type.
  const copied = every.filter(name => name !== 'count');
  const csvOf = (names: (keyof typeof types)[]) =>
    [names, ...cells.map(row => names.map(name => row[name] ?? ''))].map(each => each.join()).join('\n');
  for (const [names, codec] of [
    [copied, 'SNAPPY'],
    [copied, 'UNCOMPRESSED'],
    [every, 'SNAPPY'],
  ] as const) {
    for (const search of ['?radius_arcsec=3', '?radius_arcsec=60&find=all', '?radius_arcsec=3&rows=matched']) {
      const expected = rowsOf(await send(app, search, csvOf(names)));
      const body = tableOf(names, codec);
      const request = new Request(`http://localhost/api/crossmatch${search}`, { method: 'POST', body });
      const read = await parquetReadObjects({ file: await (await app.app.fetch(request)).arrayBuffer() });
      const texts = read.map(row =>
        Object.fromEntries(Object.entries(row).map(([name, cell]) => [name, cell === null ? '' : `${cell}`])),
      );
      assert.equal(texts, expected, `${names} ${search}`);
    }
  }
});

test('dates of Parquet stay dates in Parquet, against a catalog too, and are the beginning of their day elsewhere [Crossmatch of a table]', async () => {
  const { app } = hard;
  const days = [-25_567, null, 20_454];
  const body = new Uint8Array(
    parquetWriteBuffer({
      columnData: [
        { name: 'ra', data: [10, 10, 11] },
        { name: 'dec', data: [-30, -30, -30] },
        { name: 'night', data: days },
      ],
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'ra', type: 'DOUBLE', repetition_type: 'REQUIRED' },
        { name: 'dec', type: 'DOUBLE', repetition_type: 'REQUIRED' },
        { name: 'night', type: 'INT32', converted_type: 'DATE', repetition_type: 'OPTIONAL' },
      ],
    }),
  );
  for (const against of ['objects', 'gaia_dr3']) {
    const request = new Request(`http://localhost/api/crossmatch?against=${against}`, { method: 'POST', body });
    const file = await (await app.app.fetch(request)).arrayBuffer();
    const night = parquetMetadata(file).schema.find(({ name }) => name === 'night')!;
    assert.equal([night.type, night.converted_type], ['INT32', 'DATE']);
    const rows = await parquetReadObjects({ file });
    assert.equal(
      rows.map(({ night }) => (night === null ? null : Number(night) / 86_400_000)),
      days,
    );
    const csv = await send(app, `?against=${against}&format=csv`, body);
    assert.equal(
      rowsOf(csv).map(row => row.night!.slice(0, 19)),
      ['1900-01-01T00:00:00', '', '2026-01-01T00:00:00'],
    );
  }
});

test('small integers of Parquet are copied so that they can be read; times without a timestamp, and damage at the beginning, are refused [Crossmatch of a table]', async () => {
  const { app } = hard;
  const body = readFileSync(new URL('../../fixtures/tables/small_integers.parquet', import.meta.url));
  const request = new Request('http://localhost/api/crossmatch', { method: 'POST', body });
  const { schema } = parquetMetadata(await (await app.app.fetch(request)).arrayBuffer());
  // Pyarrow reads the converted types, and refuses the logical types that hyparquet-writer makes of integers.
  assert.equal(
    schema
      .slice(3, 6)
      .map(({ name, type, converted_type, logical_type }) => [name, type, converted_type, logical_type]),
    [
      ['i8', 'INT32', 'INT_8', undefined],
      ['u8', 'INT32', 'UINT_8', undefined],
      ['i16', 'INT32', 'INT_16', undefined],
    ],
  );
  const number = { type: 'DOUBLE', repetition_type: 'REQUIRED' } as const;
  const time = { type: 'INT64', converted_type: 'TIMESTAMP_MICROS', repetition_type: 'REQUIRED' } as const;
  const late = parquetWriteBuffer({
    columnData: ['ra', 'dec', 'seen'].map((name, i) => ({ name, data: [[10], [-30], [2n ** 62n]][i]! })),
    schema: [
      { name: 'root', num_children: 3 },
      { name: 'ra', ...number },
      { name: 'dec', ...number },
      { name: 'seen', ...time },
    ],
  });
  const damaged = Buffer.from(body);
  damaged.fill(0xff, 100, 200);
  for (const [table, message] of [
    [new Uint8Array(late), /a time in its column seen lies outside of the years 0 to 9999/],
    [damaged, /damaged/],
  ] as const) {
    const answer = await send(app, '?format=csv', table);
    assert.is(answer.status, 400, answer.text);
    assert.match(answer.body.message, message);
  }
});

test('tables that cannot be used, and parameters: 400, with what to do [Crossmatch of a table]', () =>
  inWorld(async world => {
    await world.ingest([{ ra: 10, dec: -30 }]);
    const settings = { API_MAX_TABLE_ROWS: '3', API_MAX_TABLE_MIB: '1' };
    await withApp(
      world,
      async app => {
        const good = 'ra,dec\n10,-30\n';
        const wrong: [search: string, table: string | Uint8Array, param: string, message: RegExp][] = [
          ['?against=usno', good, 'against', /one of objects, gaia_dr3/],
          ['?against=gaia_dr3', good, 'body', /gaia_dr3 is not registered/],
          ['?radius_arcsec=61', good, 'radius_arcsec', /at most 60/],
          ['?find=some', good, 'find', /one of nearest, all/],
          ['?rows=none', good, 'rows', /one of all, matched/],
          ['?format=json', good, 'format', /one of csv/],
          ['?ra=x&dec=dec', good, 'ra', /no column x.*its columns are ra, dec/],
          ['?dec=dec', good, 'dec', /give both/],
          ['?ra=dec&dec=ra', good, 'ra', /dec is a latitude or declination by its name/],
          ['?ra=elon&dec=elat', 'elon,elat\n1,2\n', 'body', /elon is ecliptic by its name/],
          ['?ra=RAB1950&dec=DEJ2000', 'RAB1950,DEJ2000\n1,2\n', 'body', /FK4 B1950 .*RAB1950.* ICRS .*DEJ2000/],
          ['', 'x,y\n1,2\n', 'body', /name them by ra= and dec=; its columns are x, y/],
          ['', '', 'body', /empty/],
          ['', 'ra,dec\n1,2,3\n', 'body', /row 1 has 3 fields/],
          ['', 'ra,dec\n1,"2\n', 'body', /does not end/],
          ['', 'ra,dec\n1,2\n1,2\n1,2\n1,2\n', 'body', /more than 3 rows/],
          ['', `ra,dec\n${'1'.repeat(2 ** 20)}\n`, 'body', /at most 1048576 bytes/],
          ['', gzipSync(Buffer.alloc(2 ** 22, 'x')), 'body', /more than 1048576 bytes/],
          ['', Buffer.from([1, 2, 255, 254]), 'body', /neither text in UTF-8/],
          ['', '<a><b/></a>', 'body', /without the data of a VOTable/],
          ['', '<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]><VOTABLE/>', 'body', /document type/],
          ['', '{"ra": 1, "dec"\n', 'body', /line 1 is not JSON/],
          ['', Buffer.from('PAR1 no PAR1'), 'body', /damaged/],
          ['', Buffer.from('ARROW1\0\0 no'), 'body', /Arrow/],
          ['', `SIMPLE  =                    T${' '.repeat(50)}`, 'body', /does not end/],
        ];
        for (const [search, table, param, message] of wrong) {
          const { status, body, text } = await send(app, search, table);
          assert.equal([status, body?.code, body?.param], [400, 'invalid_parameter', param], text.slice(0, 300));
          assert.match(body.message, message);
        }
        const after = await send(app, '', good);
        assert.is(after.status, 200, 'no refused table keeps a place');
        assert.is((await app.get('/api/crossmatch')).status, 405);
      },
      settings,
    );
  }));

test('the frame of the positions is read, said in a header and in the answer, and refused by name where it is none [Crossmatch of a table]', async () => {
  const { app } = hard;
  const table = 'RAB1950,DEB1950\n10,20\n';
  const answer = await send(app, '', table);
  assert.is(rowsOf(answer)[0]!.nearsky_status, 'matched', answer.text);
  assert.is(answer.headers.get('X-Position-Frame'), 'FK4 B1950; source=column name');
  const votable = await send(app, '?format=votable&frame=FK4', 'ra,dec\n10,20\n');
  assert.match(
    votable.text,
    /position_frame&quot;:&quot;FK4 B1950&quot;,&quot;position_frame_source&quot;:&quot;request/,
  );
  // The table's own columns stay in their frame, which the answer declares: it can be sent again.
  assert.match(votable.text, /<COOSYS ID="frame_FK4_B1950" system="eq_FK4" equinox="B1950"\/>/);
  assert.match(votable.text, /<FIELD name="ra"[^>]*ref="frame_FK4_B1950"/);
  const again = await send(app, '?format=csv', votable.text);
  assert.is(again.headers.get('X-Position-Frame'), 'FK4 B1950; source=declaration');
  assert.is(again.headers.get('X-Position-Columns'), 'ra dec');
  assert.is(votable.headers.get('X-Match-Count'), '1');
  assert.is(rowsOf(await send(app, '?frame=ICRS', table))[0]!.nearsky_status, 'no_match');
  const refused = await send(app, '?frame=ecliptic', table);
  assert.equal([refused.status, refused.body.param], [400, 'frame']);
  assert.match(refused.body.error, /the frame ecliptic is not converted/);
});

test('a crossmatch of an answer uses the positions of its rows, not those of its matches [Crossmatch of a table]', async () => {
  const { app } = hard;
  for (const against of ['objects', 'gaia_dr3']) {
    const first = await send(app, `?format=votable&against=${against}`, 'alpha,delta\n40,20.0001\n40,20.1\n');
    assert.is(first.headers.get('X-Match-Count'), '1', first.text);
    const second = await send(app, '?format=csv', first.text);
    assert.is(second.headers.get('X-Position-Columns'), 'alpha delta');
    const statuses = rowsOf(second).map(row => row.nearsky_status_2);
    assert.equal(statuses, ['matched', 'no_match'], second.text);
  }
});

test('the rows of the answer are counted, columns are selected and those that cannot be kept are named [Crossmatch of a table]', async () => {
  const { app } = hard;
  const counts = ({ headers }: Answer) =>
    ['X-Row-Count', 'X-Input-Row-Count', 'X-Match-Count'].map(name => Number(headers.get(name)));
  const table = 'id,ra,dec,"a,b"\n1,1,3,x\n2,9,9,y\n';
  const all = await send(app, '?find=all', table);
  assert.equal(counts(all), [3, 2, 2]);
  assert.is(rowsOf(await send(app, '?find=all&columns=id', table)).length, 3);
  const matched = await send(app, '?find=all&rows=matched', table);
  assert.equal([counts(matched), rowsOf(matched).length], [[2, 2, 2], 2]);
  assert.is(all.text.trim().split('\n').length - 1, 3);
  const some = await send(app, `?columns=${encodeURIComponent('"a,b", ID')}`, table);
  assert.match(some.text, /^id,"a,b",nearsky_status,/);
  assert.is(some.headers.get('X-Position-Columns'), 'ra dec');
  const unknown = await send(app, '?columns=id,nothing', table);
  assert.equal([unknown.status, unknown.body.param], [400, 'columns']);
  assert.match(unknown.body.error, /no column nothing, named in columns=: its columns are id, ra, dec, a,b/);
  const spark = readFileSync(new URL('../../fixtures/tables/spark.parquet', import.meta.url));
  const kept = await send(app, '?format=csv', spark);
  assert.is(kept.headers.get('X-Dropped-Columns'), 'fluxes pair raw');
  assert.match((await send(app, '?format=votable', spark)).text, /dropped_columns&quot;:\[&quot;fluxes/);
  assert.match(kept.text, /^ra,dec,seen,nearsky_status.*\n1,3,2026-01-31T12:00:00.500001Z,matched,/);
  const asked = await send(app, '?columns=ra,fluxes', spark);
  assert.match(asked.body.error, /its column fluxes, named in columns=, has a type that the answer cannot hold/);
  assert.is((await send(app, '?columns=ra', spark)).headers.get('X-Dropped-Columns'), null);
});

const READ_FITS = `
import json, sys
import numpy as np
from astropy.table import Table
t = Table.read(sys.argv[1])
def plain(cell):
    return None if cell is np.ma.masked else cell.item() if hasattr(cell, "item") else str(cell)
rows = [[plain(t[c][i]) for c in t.colnames] for i in range(len(t))]
print(json.dumps({"names": t.colnames, "units": [str(t[c].unit) for c in t.colnames], "rows": rows}))
`;

import { withApp } from './app.ts';

needs(test, whyNoPython('astropy'))('an answer in FITS, as astropy reads it [Crossmatch of a table]', async () => {
  const { app, world, objects } = hard;
  const { id } = objects.find(({ ra }) => ra === PAIR[0].ra)!;
  const table = 'id,ra,dec,name\n9007199254740993,1,3,first\n,9,9,\n';
  const answer = await app.get('/api/crossmatch?format=fits', {
    method: 'POST',
    body: table,
    headers: { 'Content-Type': 'text/csv' },
  });
  assert.equal([answer.status, answer.headers.get('Content-Type')], [200, 'application/fits']);
  const response = await app.app.fetch(
    new Request('http://nearsky.test/api/crossmatch', {
      method: 'POST',
      body: table,
      headers: { Accept: 'application/fits' },
    }),
  );
  const path = join(world.directory, 'answer.fits');
  writeFileSync(path, await response.bytes());
  const read = JSON.parse(await runPython(pythonWith('astropy')!, ['-c', READ_FITS, path]), exactIntegers);
  assert.equal(read.names, [
    'id',
    'ra',
    'dec',
    'name',
    'nearsky_status',
    'nearsky_diaObjectId',
    'nearsky_ra',
    'nearsky_dec',
    'nearsky_separation_arcsec',
  ]);
  assert.equal(
    read.rows.map((row: unknown[]) => row.slice(0, 6)),
    [
      [9007199254740993n, 1, 3, 'first', 'matched', id],
      [null, 9, 9, null, 'no_match', null],
    ],
  );
  assert.is(read.units.at(-1), 'arcsec');
});

function exactIntegers(_key: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? BigInt(context!.source!)
    : value;
}

test('a catalog that was replaced since the request is refused, as the answer would name the former release', () =>
  inWorld(async world => {
    const { location } = await world.addCatalog('gaia_dr3', [{ ra: 1, dec: 3 }]);
    const coordinator = coordinatorOf(configOf(join(world.directory, 'data')));
    const catalog = catalogDefinition('gaia_dr3')!;
    const input = new TextEncoder().encode('ra,dec\n1,3\n');
    const settings = { radiusArcsec: 1, find: 'nearest', rows: 'all', priorCompleteness: 1, format: 'csv' } as const;
    const named = { ra: undefined, dec: undefined, frame: undefined };
    const request = { ...settings, catalogs: [catalog], isAll: false, named, about: '{}' };
    const files = { input, inputBytes: input.length, output: join(world.directory, 'answer'), maxOutputBytes: 2 ** 20 };
    const begun = async () => (await coordinator.ask(TABLE, { client: 'a', request, ...files }, new Budget(60)))!.begun;
    try {
      await eventually('the index is ready', async () => coordinator.generation);
      assert.is((await begun()).outcome, 'begun');
      await world.writer.commit({
        kind: 'register_catalog',
        registration: await registerCatalog(catalog, location, { addedAtUs: 0, release: 'Gaia DR4' }),
      });
      const refused = await begun();
      assert.is(refused.outcome, 'refused');
      assert.match(
        (refused as { message: string }).message,
        /the catalog gaia_dr3 was replaced .*: send the table again/,
      );
    } finally {
      await coordinator.close();
    }
  }));

test('more pairs than a table may have are refused [Crossmatch of a table]', () => {
  const pairs = new Pairs(1, 'all');
  pairs.add({ row: new Uint32Array(5_000_000) } as unknown as Batch);
  assert.throws(
    () => pairs.add({ row: new Uint32Array(1) } as unknown as Batch),
    (error: unknown) => error instanceof TableError && error.message.includes('more than 5000000 pairs'),
  );
});

test.run();
