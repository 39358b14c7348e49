/**
 * Whole catalogs of --points sources over HTTP, with stored positions and without them, beside PostgreSQL with q3c:
 * queries in ADQL, the sources around a position in four catalogs, and the crossmatch of new objects with them. The
 * catalogs are read from their files for each query. PostgreSQL has the same rows in a table that is clustered by
 * position and in its cache.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { POSITIONS_DIRECTORY } from '../src/core/store/data_files.ts';
import { Postgres, whyNoPostgres } from '../test/adql/oracle/postgres.ts';
import { get, nearsky, type Server, startServer } from '../test/e2e/support.ts';
import { anywhere, seededRandom } from '../test/oracle/skies.ts';
import { hatsSky, store } from './hats_sky.ts';
import { runToEnd, treeCpuMs, withDirectory } from './processes.ts';
import { median, type Options, type Report, type Workload } from './report.ts';
import { ask, tablesReady, uploadOf } from './tap.ts';

/** The objects of the archive, and the rows of each uploaded table. */
const OBJECTS = 3657;
const UPLOADED = 10_000;
const ARCSEC = 1 / 3600;
/** Copies of the catalog under other names, which are searched beside it. */
const COPIES = ['second', 'third', 'fourth'] as const;
const NEW_OBJECTS = 1000;
/** Two separations differ by rounding only, arcsec. */
const SAME_ARCSEC = 1e-9;

/** Each in ADQL and in PostgreSQL's SQL, around the densest place of the sky. The last column is a separation. */
const queriesAround = (ra: number, dec: number): Readonly<Record<string, readonly [adql: string, sql: string]>> => {
  const cone = (arcsec: number): readonly [string, string] => {
    const columns = 's.source_id, s.ra, s.dec, s.phot_g_mean_mag';
    return [
      `SELECT ${columns}, DISTANCE(POINT(s.ra, s.dec), POINT(${ra}, ${dec})) FROM gaia_dr3.sources AS s WHERE 1 = CONTAINS(POINT(s.ra, s.dec), CIRCLE(${ra}, ${dec}, ${arcsec * ARCSEC}))`,
      `SELECT ${columns}, q3c_dist(s.ra, s.dec, ${ra}, ${dec}) FROM sources AS s WHERE q3c_radial_query(s.ra, s.dec, ${ra}, ${dec}, ${arcsec * ARCSEC})`,
    ];
  };
  const join = (id: string, [table, theirs]: readonly [string, string], arcsec: number): readonly [string, string] => {
    const separation = 'DISTANCE(POINT(m.ra, m.dec), POINT(s.ra, s.dec))';
    return [
      `SELECT m.${id}, s.source_id, ${separation} FROM ${table} AS m JOIN gaia_dr3.sources AS s ON ${separation} < ${arcsec * ARCSEC}`,
      `SELECT m.${id}, s.source_id, q3c_dist(m.ra, m.dec, s.ra, s.dec) FROM ${theirs} AS m JOIN sources AS s ON q3c_join(m.ra, m.dec, s.ra, s.dec, ${arcsec * ARCSEC})`,
    ];
  };
  const bright = 's.phot_bp_mean_mag - s.phot_rp_mean_mag > 1';
  const within = cone(3 * 3600).map(text => text.replace(/SELECT .* FROM/, 'SELECT COUNT(*) AS n, 0 FROM')) as [
    string,
    string,
  ];
  return {
    'cone of 10"': cone(10),
    'cone of 0.1 degrees': cone(360),
    'count of a colour within 3 degrees': [`${within[0]} AND ${bright}`, `${within[1]} AND ${bright}`],
    'uploaded positions in 3 degrees, within 5"': join('id', ['TAP_UPLOAD.mine', 'around'], 5),
    'uploaded positions over the sky, within 5"': join('id', ['TAP_UPLOAD.mine', 'mine'], 5),
    'all objects, within 2"': join('diaobjectid', ['nearsky.objects', 'objects'], 2),
  };
};

/** How often a turn repeats its query, because processor time is counted in ticks. */
const TIMES = 5;
/** A query runs this often before it is measured, or for this long: the first tens of a process compile its code. */
const WARM_TIMES = 40;
const WARM_MS = 2000;
/** Until the ended process of a connection is counted. */
const ENDED_MS = 100;

/** Runs a turn, and gives the duration of a query that it measured and the CPU time of a query, ms. */
export async function measured(pid: number, turn: () => Promise<number>, times = TIMES): Promise<Times[number]> {
  const cpu = treeCpuMs(pid);
  const wall = await turn();
  await sleep(ENDED_MS);
  return [wall, (treeCpuMs(pid) - cpu) / times];
}

export const ms = (value: number) => value.toFixed(value < 10 ? 1 : 0);
export const middle = (times: Times) =>
  times.length === 0 ? ['', ''] : [0, 1].map(i => ms(median(times.map(time => time[i]!))));
const spread = (times: Times) => {
  const walls = times.map(([wall]) => wall);
  return `${ms(Math.min(...walls))} to ${ms(Math.max(...walls))}`;
};

/**
 * Compares the ids of each row, and the separation in its last cell, with PostgreSQL's, whatever the order.
 * @throws Error if they differ
 */
function requireSame(name: string, csv: Buffer, theirs: readonly (readonly (string | null)[])[]): void {
  const lines = csv.toString().trimEnd().split(/\r?\n/).slice(1);
  const [found, expected] = [lines.map(line => line.split(',')), theirs].map(rows =>
    rows
      .map(cells => ({
        ids: cells.filter(cell => /^\d+$/.test(`${cell}`)).join(),
        arcsec: 3600 * Number(cells.at(-1)),
      }))
      .sort((a, b) => (a.ids < b.ids ? -1 : 1)),
  ) as [{ ids: string; arcsec: number }[], { ids: string; arcsec: number }[]];
  if (found.length !== expected.length) throw new Error(`${name}: ${found.length} rows, not ${expected.length}`);
  for (const [i, { ids, arcsec }] of expected.entries())
    if (found[i]!.ids !== ids || !(Math.abs(found[i]!.arcsec - arcsec) < SAME_ARCSEC))
      throw new Error(`${name}: ${JSON.stringify(found[i])}, and ${JSON.stringify(expected[i])} of PostgreSQL`);
}

type Side = 'with' | 'without';
const SIDES = { with: [], without: ['--no-positions'] } as const;

/** The wall and CPU time of each turn, ms. */
export type Times = (readonly [wall: number, cpu: number])[];

async function run({ points, seed, runs }: Options, note: (text: string) => void): Promise<Report> {
  const obstacle = whyNoPostgres();
  if (obstacle) throw new Error(obstacle);
  const sky = await hatsSky({ sources: points, objects: OBJECTS, seed }, note);
  return await withDirectory(async folder => {
    // PostgreSQL's client may run as another user.
    chmodSync(folder, 0o755);
    const copy = (from: string, to: string) => execFileSync('cp', ['-al', from, to]);
    for (const name of COPIES) copy(sky.catalog, join(folder, name));
    const servers = {} as Record<Side, Server>;
    const dataOf = (side: Side) => join(folder, side);
    for (const [side, options] of Object.entries(SIDES) as [Side, readonly string[]][]) {
      const data = dataOf(side);
      cpSync(sky.data, data, { recursive: true });
      note(`nearsky takes the catalogs, ${side} positions`);
      const add = (...args: string[]) => nearsky('catalog', 'add', ...args, '--data', data, ...options);
      await add('gaia_dr3', sky.catalog);
      for (const name of COPIES) await add(name, join(folder, name), '--id', 'source_id');
      await nearsky('crossmatch', '--data', data);
      servers[side] = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch'], {
        // The machine may be busy.
        TAP_QUERY_SECONDS: '120',
      });
    }
    const postgres = await Postgres.start([], [], '-c shared_buffers=4GB -c work_mem=64MB -c max_wal_size=8GB');
    try {
      const tap = (side: Side) => `${servers[side].url}/vo/tap`;
      for (const side of ['with', 'without'] as const) await tablesReady(tap(side));
      const objects = join(folder, 'objects.csv');
      const { answer } = await ask(tap('with'), 'SELECT diaObjectId, ra, dec FROM nearsky.objects', 'csv');
      writeFileSync(objects, answer);
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      const columns = 'source_id, ra, "dec", phot_g_mean_mag, phot_bp_mean_mag, phot_rp_mean_mag';
      await connection.run(
        `COPY (SELECT ${columns} FROM read_parquet('${sky.catalog}/dataset/Norder=*/**/*.parquet')) TO '${folder}/sources.csv'`,
      );
      connection.closeSync();
      const { ra, dec } = anywhere(seededRandom(seed));
      note('PostgreSQL takes the sources');
      const uploaded = (step: number, where: string) =>
        `SELECT source_id AS id, ra, LEAST(90, dec + ${3 * ARCSEC}) AS dec FROM sources WHERE source_id % ${step} = 0 ${where}`;
      await postgres.run([
        'CREATE TABLE sources (source_id bigint, ra float8, dec float8, phot_g_mean_mag real, phot_bp_mean_mag real, phot_rp_mean_mag real)',
        'CREATE TABLE objects (diaobjectid bigint, ra float8, dec float8)',
        `\\copy sources FROM PROGRAM 'tail -n +2 ${folder}/sources.csv' CSV\n`,
        `\\copy objects FROM PROGRAM 'tail -n +2 ${objects}' CSV\n`,
        'CREATE INDEX sky ON sources (q3c_ang2ipix(ra, dec))',
        'CLUSTER sources USING sky',
        `CREATE TABLE mine AS ${uploaded(Math.max(1, Math.floor(points / UPLOADED)), '')}`,
        `CREATE TABLE around AS ${uploaded(7, `AND q3c_radial_query(ra, dec, ${ra}, ${dec}, 3) LIMIT ${UPLOADED}`)}`,
        'VACUUM ANALYZE sources',
        'ANALYZE objects',
        'ANALYZE mine',
        'ANALYZE around',
      ]);
      const [mine, around] = (await postgres.rows([
        'SELECT * FROM mine',
        'SELECT * FROM around',
      ])) as unknown as Place[][];
      const server = Number(readFileSync(join(postgres.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);
      const rows: string[][] = [];
      const json: Record<string, unknown> = {};
      // A run takes long, so each row is shown when it is measured.
      const report = (name: string, count: string, times: Readonly<Record<string, Times>>) => {
        const [ours, before, theirs] = ['with', 'without', 'postgres'].map(side => middle(times[side] ?? []));
        json[name] = { times };
        rows.push([name, count, ...[ours!, before!, theirs!].flat(), spread(times.with!)]);
        note(rows.at(-1)!.join(', '));
      };
      for (const [name, [adql, sql]] of Object.entries(queriesAround(ra, dec))) {
        const table = uploadOf(name.includes('3 degrees') ? around! : mine!);
        const expected = (await postgres.rows([sql]))[0]!;
        const times: Record<string, Times> = { with: [], without: [], postgres: [] };
        for (const side of ['with', 'without'] as const)
          requireSame(`${name} ${side} positions`, (await ask(tap(side), adql, 'csv', table)).answer, expected);
        for (const side of ['with', 'without'] as const)
          for (let i = 0, ms = 0; i < WARM_TIMES && ms < WARM_MS; i++)
            ms += (await ask(tap(side), adql, 'votable/b2', table)).ms;
        for (let turn = 0; turn < runs; turn++) {
          for (const side of ['with', 'without'] as const)
            times[side]!.push(
              await measured(servers[side].child.pid!, async () => {
                const each: number[] = [];
                for (let i = 0; i < TIMES; i++) each.push((await ask(tap(side), adql, 'votable/b2', table)).ms);
                return median(each);
              }),
            );
          times.postgres!.push(await measured(server, () => postgres.milliseconds(sql, TIMES - 1)));
        }
        report(name, `${expected.length}`, times);
      }
      await measureSources(servers, postgres, server, mine!, runs, report);
      await measureNew(folder, dataOf, mine!, runs, report);
      const header = ['', 'rows', 'ms', 'CPU', 'without, ms', 'CPU', 'PostgreSQL, ms', 'CPU', 'least to most, ms'];
      return { header, rows, json };
    } finally {
      for (const server of Object.values(servers)) await server.stop();
      await postgres.close();
    }
  });
}

/** Id, ra, dec. */
type Place = readonly string[];
type Row = (name: string, count: string, times: Readonly<Record<string, Times>>) => void;

/** The sources near positions in four catalogs, another position each time. */
async function measureSources(
  servers: Readonly<Record<Side, Server>>,
  postgres: Postgres,
  server: number,
  places: readonly Place[],
  runs: number,
  report: Row,
): Promise<void> {
  const queries = (turn: number) => Array.from({ length: 5 * TIMES }, (_, i) => places[(turn * 5 * TIMES + i) * 7]!);
  const theirs = ([, ra, dec]: Place) =>
    Array.from(
      { length: 1 + COPIES.length },
      () => `SELECT * FROM sources AS s WHERE q3c_radial_query(s.ra, s.dec, ${ra}, ${dec}, ${10 * ARCSEC})`,
    ).join(' UNION ALL ');
  const ours = async (side: Side, [, ra, dec]: Place) => {
    const began = performance.now();
    const body = await get(`${servers[side].url}/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=10`);
    return { ms: performance.now() - began, body };
  };
  const times: Record<string, Times> = { with: [], without: [], postgres: [] };
  let count = 0;
  for (let turn = 0; turn < runs; turn++) {
    for (const side of ['with', 'without'] as const)
      times[side]!.push(
        await measured(
          servers[side].child.pid!,
          async () => median(await Array.fromAsync(queries(turn), async place => (await ours(side, place)).ms)),
          5 * TIMES,
        ),
      );
    const each: number[] = [];
    const all = await measured(
      server,
      async () => {
        for (const place of queries(turn).slice(0, TIMES)) each.push(await postgres.milliseconds(theirs(place), 4));
        return median(each);
      },
      5 * TIMES,
    );
    times.postgres!.push(all);
    for (const place of queries(turn).slice(0, TIMES)) {
      const [a, b] = [await ours('with', place), await ours('without', place)];
      const found = (await postgres.rows([theirs(place)]))[0]!;
      const ids = (body: typeof a.body) =>
        body.sources
          .map((source: { catalog_source_id: string }) => source.catalog_source_id)
          .sort()
          .join();
      const [x, y, z] = [
        ids(a.body),
        ids(b.body),
        found
          .map(([id]) => id)
          .sort()
          .join(),
      ];
      if (x !== y || x !== z) throw new Error(`sources near ${place}: ${x}, ${y}, ${z}`);
      count += a.body.count;
    }
  }
  report('/api/sources, 10", four catalogs', `${(count / runs / TIMES).toFixed(1)}`, times);
}

/** `nearsky crossmatch` of new objects with four catalogs, and its start: the same command without objects. */
async function measureNew(
  folder: string,
  dataOf: (side: Side) => string,
  places: readonly Place[],
  runs: number,
  report: Row,
): Promise<void> {
  const step = Math.floor(places.length / NEW_OBJECTS);
  const near = Array.from({ length: NEW_OBJECTS }, (_, i) => places[i * step]!);
  const numbers = (at: number) => Float64Array.from(near, place => Number(place[at]) + (at === 2 ? -2.5 * ARCSEC : 0));
  const objects = { ra: numbers(1), dec: numbers(2), id: BigInt64Array.from(near, ([id]) => BigInt(id!)) };
  for (const [name, some] of [
    ['crossmatch of 1,000 new objects, four catalogs', true],
    ['the same command without objects', false],
  ] as const) {
    const times: Record<string, Times> = { with: [], without: [] };
    const matches = new Set<string>();
    for (let turn = 0; turn < runs; turn++)
      for (const side of ['with', 'without'] as const) {
        const data = join(folder, 'new');
        rmSync(data, { recursive: true, force: true });
        mkdirSync(data);
        cpSync(join(dataOf(side), 'nearsky.mdb'), join(data, 'nearsky.mdb'));
        if (side === 'with') execFileSync('cp', ['-al', join(dataOf(side), POSITIONS_DIRECTORY), data]);
        if (some) await store(data, objects);
        const began = performance.now();
        const { cpuSeconds, output } = await runToEnd('../src/main.ts', ['crossmatch', '--data', data, '--json']);
        times[side]!.push([performance.now() - began, 1000 * cpuSeconds]);
        const { recorded, matches: found } = JSON.parse(output.split('\n')[0]!);
        if (recorded !== (some ? NEW_OBJECTS : 0)) throw new Error(output);
        matches.add(JSON.stringify(found));
      }
    if (matches.size > 1) throw new Error([...matches].join());
    report(name, some ? `${NEW_OBJECTS}` : '', times);
  }
}

export const sources: Workload = {
  name: 'sources',
  summary: 'queries in ADQL over a whole catalog of --points sources, beside PostgreSQL with q3c',
  onlyByName: true,
  run,
};
