/**
 * Queries in ADQL over a whole catalog of --points sources, over HTTP, beside PostgreSQL with q3c. The catalog is read
 * from its files for each query. PostgreSQL has the same rows in a table that is clustered by position and in its cache.
 */
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { Postgres, whyNoPostgres } from '../test/adql/oracle/postgres.ts';
import { nearsky, startServer } from '../test/e2e/support.ts';
import { anywhere, seededRandom } from '../test/oracle/skies.ts';
import { hatsSky } from './hats_sky.ts';
import { treeCpuMs, withDirectory } from './processes.ts';
import { median, type Options, type Report, ratio, requireSameRows, type Workload } from './report.ts';
import { ask, tablesReady, uploadOf } from './tap.ts';

/** The share of the sources that there are objects, and positions in the uploaded table. */
const OBJECT_SHARE = 1 / 20;
const UPLOADED_SHARE = 1 / 2000;
const ARCSEC = 1 / 3600;

/** Each in ADQL and in PostgreSQL's SQL, around the densest place of the sky. */
const queriesAround = (ra: number, dec: number): Readonly<Record<string, readonly [adql: string, sql: string]>> => {
  const inCircle = (table: string, degrees: number) =>
    `1 = CONTAINS(POINT(${table}.ra, ${table}.dec), CIRCLE(${ra}, ${dec}, ${degrees}))`;
  const q3cCircle = (table: string, degrees: number) =>
    `q3c_radial_query(${table}.ra, ${table}.dec, ${ra}, ${dec}, ${degrees})`;
  const red = 's.phot_bp_mean_mag - s.phot_rp_mean_mag > 1';
  const near = (table: string, arcsec: number) =>
    `DISTANCE(POINT(${table}.ra, ${table}.dec), POINT(s.ra, s.dec)) < ${arcsec * ARCSEC}`;
  const q3cNear = (table: string, arcsec: number) =>
    `q3c_join(${table}.ra, ${table}.dec, s.ra, s.dec, ${arcsec * ARCSEC})`;
  return {
    'cone of 0.1 degrees': [
      `SELECT s.source_id, s.ra, s.dec, s.phot_g_mean_mag FROM gaia_dr3.sources AS s WHERE ${inCircle('s', 0.1)}`,
      `SELECT s.source_id, s.ra, s.dec, s.phot_g_mean_mag FROM sources AS s WHERE ${q3cCircle('s', 0.1)}`,
    ],
    'cone of 10"': [
      `SELECT s.source_id, s.ra, s.dec, s.phot_g_mean_mag FROM gaia_dr3.sources AS s WHERE ${inCircle('s', 10 * ARCSEC)}`,
      `SELECT s.source_id, s.ra, s.dec, s.phot_g_mean_mag FROM sources AS s WHERE ${q3cCircle('s', 10 * ARCSEC)}`,
    ],
    'count of a colour within 3 degrees': [
      `SELECT COUNT(*) AS n FROM gaia_dr3.sources AS s WHERE ${inCircle('s', 3)} AND ${red}`,
      `SELECT COUNT(*) AS n FROM sources AS s WHERE ${q3cCircle('s', 3)} AND ${red}`,
    ],
    'uploaded positions within 5"': [
      `SELECT m.id, s.source_id FROM TAP_UPLOAD.mine AS m JOIN gaia_dr3.sources AS s ON ${near('m', 5)}`,
      `SELECT m.id, s.source_id FROM mine AS m JOIN sources AS s ON ${q3cNear('m', 5)}`,
    ],
    'objects within 3 degrees, sources within 1"': [
      `SELECT o.diaObjectId, s.source_id FROM nearsky.objects AS o JOIN gaia_dr3.sources AS s ON ${near('o', 1)} WHERE ${inCircle('o', 3)}`,
      `SELECT o.diaObjectId, s.source_id FROM objects AS o JOIN sources AS s ON ${q3cNear('o', 1)} WHERE ${q3cCircle('o', 3)}`,
    ],
  };
};

/** How often a turn repeats its query, because processor time is counted in ticks. */
const TIMES = 5;
/** Until the ended process of a connection is counted. */
const ENDED_MS = 100;

/** Runs a turn, and gives the duration of a query that it measured and the CPU time of a query, ms. */
async function measured(pid: number, turn: () => Promise<number>): Promise<readonly [wall: number, cpu: number]> {
  const cpu = treeCpuMs(pid);
  const wall = await turn();
  await sleep(ENDED_MS);
  return [wall, (treeCpuMs(pid) - cpu) / TIMES];
}

async function run({ points, seed, runs }: Options, note: (text: string) => void): Promise<Report> {
  const obstacle = whyNoPostgres();
  if (obstacle) throw new Error(obstacle);
  const sky = await hatsSky({ sources: points, objects: Math.round(points * OBJECT_SHARE), seed }, note);
  return await withDirectory(async folder => {
    // PostgreSQL's client may run as another user.
    chmodSync(folder, 0o755);
    const data = join(folder, 'data');
    cpSync(sky.data, data, { recursive: true });
    note('nearsky takes the catalog');
    await nearsky('catalog', 'add', 'gaia_dr3', sky.catalog, '--data', data);
    // Otherwise the service crossmatches, and updates its tables, while queries are measured.
    await nearsky('crossmatch', '--data', data);
    const server = await startServer(['serve', '--data', data, '--port', '0']);
    const postgres = await Postgres.start([], [], '-c shared_buffers=4GB -c work_mem=64MB -c max_wal_size=8GB');
    try {
      const url = `${server.url}/vo/tap`;
      await tablesReady(url);
      const objects = join(folder, 'objects.csv');
      const { answer } = await ask(url, 'SELECT diaObjectId, ra, dec FROM nearsky.objects', 'csv');
      writeFileSync(objects, answer);
      const instance = await DuckDBInstance.create(':memory:');
      const connection = await instance.connect();
      const columns = 'source_id, ra, "dec", phot_g_mean_mag, phot_bp_mean_mag, phot_rp_mean_mag';
      await connection.run(
        `COPY (SELECT ${columns} FROM read_parquet('${sky.catalog}/dataset/Norder=*/**/*.parquet')) TO '${folder}/sources.csv'`,
      );
      connection.closeSync();
      note('PostgreSQL takes the sources');
      await postgres.run([
        'CREATE TABLE sources (source_id bigint, ra float8, dec float8, phot_g_mean_mag real, phot_bp_mean_mag real, phot_rp_mean_mag real)',
        'CREATE TABLE objects (diaObjectId bigint, ra float8, dec float8)',
        `\\copy sources FROM PROGRAM 'tail -n +2 ${folder}/sources.csv' CSV\n`,
        `\\copy objects FROM PROGRAM 'tail -n +2 ${objects}' CSV\n`,
        'CREATE INDEX sky ON sources (q3c_ang2ipix(ra, dec))',
        'CLUSTER sources USING sky',
        'CREATE INDEX objects_sky ON objects (q3c_ang2ipix(ra, dec))',
        'CLUSTER objects USING objects_sky',
        `CREATE TABLE mine AS SELECT source_id AS id, ra, LEAST(90, dec + ${3 * ARCSEC}) AS dec FROM sources WHERE source_id % ${1 / UPLOADED_SHARE} = 0`,
        'VACUUM ANALYZE sources',
        'VACUUM ANALYZE objects',
        'ANALYZE mine',
      ]);
      const [{ ra, dec }, table] = [
        anywhere(seededRandom(seed)),
        uploadOf((await postgres.rows(['SELECT * FROM mine']))[0]!),
      ];
      const processes = [
        server.child.pid!,
        Number(readFileSync(join(postgres.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]),
      ] as const;
      const rows: string[][] = [];
      const json: Record<string, unknown> = {};
      for (const [name, [adql, sql]] of Object.entries(queriesAround(ra, dec))) {
        const { answer } = await ask(url, adql, 'csv', table);
        const count = requireSameRows(name, answer, (await postgres.rows([sql]))[0]!);
        const ours: (readonly [number, number])[] = [];
        const references: (readonly [number, number])[] = [];
        for (let turn = 0; turn < runs; turn++) {
          ours.push(
            await measured(processes[0], async () => {
              const times: number[] = [];
              for (let i = 0; i < TIMES; i++) times.push((await ask(url, adql, 'votable/b2', table)).ms);
              return median(times);
            }),
          );
          references.push(await measured(processes[1], () => postgres.milliseconds(sql, TIMES - 1)));
        }
        const [wall, cpu, theirWall, theirCpu] = [ours, references].flatMap(times =>
          [0, 1].map(i => median(times.map(time => time[i]!))),
        ) as [number, number, number, number];
        json[name] = { ms: wall, cpuMs: cpu, reference: theirWall, referenceCpu: theirCpu };
        note(name);
        rows.push([
          name,
          `${count}`,
          ...[wall, cpu, theirWall, theirCpu].map(ms => ms.toFixed(0)),
          ratio(theirWall / wall),
          ratio(theirCpu / cpu),
        ]);
      }
      const header = ['query', 'rows', 'ms', 'CPU, ms', 'PostgreSQL, ms', 'its CPU, ms', 'its over ours', 'CPU'];
      return { header, rows, json };
    } finally {
      await server.stop();
      await postgres.close();
    }
  });
}

export const sources: Workload = {
  name: 'sources',
  summary: 'queries in ADQL over a whole catalog of --points sources, beside PostgreSQL with q3c',
  onlyByName: true,
  run,
};
