/** Queries in ADQL, as the engine runs and answers them over its tables, beside PostgreSQL with q3c on the same machine. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { type DescribedTable, MACROS, translate } from '@nearsky/adql';
import { pixel29 } from '@nearsky/sky-index';
import { median, type Options, type Report, ratio, requireSameRows, type Workload } from '../../../bench/report.ts';
import { placeAround } from '../../../bench/sky.ts';
import { QueryRun } from '../../../src/capabilities/adql/query_run.ts';
import { tapFormat } from '../../../src/capabilities/adql/tap_formats.ts';
import { Postgres, whyNoPostgres } from '../../adql/oracle/postgres.ts';
import { TABLES } from '../../adql/support.ts';
import { seededRandom } from '../../oracle/skies.ts';

/** The number of rows in the joined table. */
const UPLOADED = 100_000;

const UPLOAD: DescribedTable = {
  schema: 'TAP_UPLOAD',
  name: 'mine',
  description: 'Positions',
  columns: ['id', 'ra', 'dec'].map(name => ({ name, type: 'float64', description: name })),
};

const ARCSEC = 1 / 3600;

const FIRST_ID = 170_055_002_004_914_266n;
/** How long each query is repeated before it is measured, and in each turn, ms, because a running service is warm. */
const WARM_MS = 300;
const TURN_MS = 50;
/** The number of times that PostgreSQL runs a query in each turn, over one connection. */
const TURNS_OF_THEIRS = 5;
const MAX_ROWS = 1_000_000;

/** Each in ADQL and in PostgreSQL's SQL. */
const queriesOf = (id: bigint): Readonly<Record<string, readonly [adql: string, sql: string]>> => ({
  'lookup by id': [
    `SELECT diaObjectId, ra, dec FROM objects WHERE diaObjectId = ${id}`,
    `SELECT diaObjectId, ra, dec FROM objects WHERE diaObjectId = ${id}`,
  ],
  'cone of 1 degree': [
    'SELECT diaObjectId, ra, dec FROM objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(150.1, 2.2, 1))',
    'SELECT diaObjectId, ra, dec FROM objects WHERE q3c_radial_query(ra, dec, 150.1, 2.2, 1)',
  ],
  'cone of 1"': [
    `SELECT diaObjectId, ra, dec FROM objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(150.1, 2.2, ${ARCSEC}))`,
    `SELECT diaObjectId, ra, dec FROM objects WHERE q3c_radial_query(ra, dec, 150.1, 2.2, ${ARCSEC})`,
  ],
  'count by filter': [
    "SELECT COUNT(*) FROM objects WHERE reliability > 0.5 AND status = 'matched'",
    "SELECT COUNT(*) FROM objects WHERE reliability > 0.5 AND status = 'matched'",
  ],
  'group by': [
    'SELECT status, COUNT(*), AVG(reliability) FROM objects GROUP BY status',
    'SELECT status, COUNT(*), AVG(reliability) FROM objects GROUP BY status',
  ],
  'join within 1"': [
    `SELECT COUNT(*) FROM objects AS o JOIN TAP_UPLOAD.mine AS m ON DISTANCE(o.ra, o.dec, m.ra, m.dec) <= ${ARCSEC}`,
    `SELECT COUNT(*) FROM mine AS m, objects AS o WHERE q3c_join(m.ra, m.dec, o.ra, o.dec, ${ARCSEC})`,
  ],
  'the same, keeping all rows of the table': [
    `SELECT COUNT(*) FROM TAP_UPLOAD.mine AS m LEFT JOIN objects AS o ON DISTANCE(o.ra, o.dec, m.ra, m.dec) <= ${ARCSEC}`,
    `SELECT COUNT(*) FROM mine AS m LEFT JOIN objects AS o ON q3c_join(m.ra, m.dec, o.ra, o.dec, ${ARCSEC})`,
  ],
});

/** The median duration of a call, ms, over as many calls as fit into this time, at least one. */
async function eachMs(totalMs: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (const began = performance.now(); times.length === 0 || performance.now() - began < totalMs; ) {
    const before = performance.now();
    await work();
    times.push(performance.now() - before);
  }
  return median(times);
}

async function run({ points, seed, runs }: Options, note: (text: string) => void): Promise<Report> {
  const obstacle = whyNoPostgres();
  if (obstacle) throw new Error(obstacle);
  const folder = mkdtempSync(join(tmpdir(), 'nearsky-adql-'));
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755);
  const random = seededRandom(seed);
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: '1024MiB',
    temp_directory: '',
  });
  const connection = await instance.connect();
  const postgres = await Postgres.start([], [], '-c shared_buffers=1GB -c work_mem=64MB -c max_wal_size=8GB');
  try {
    note(`${points} objects are made`);
    for (const sql of [...MACROS, 'CREATE SCHEMA TAP_UPLOAD']) await connection.run(sql);
    await connection.run(
      'CREATE TABLE made (healpix_29 BIGINT, diaObjectId BIGINT, ra DOUBLE, "dec" DOUBLE, reliability DOUBLE, status VARCHAR)',
    );
    await connection.run('CREATE TABLE TAP_UPLOAD.mine (id DOUBLE, ra DOUBLE, "dec" DOUBLE)');
    const [objects, mine] = [
      await connection.createAppender('made'),
      await connection.createAppender('mine', 'TAP_UPLOAD'),
    ];
    for (let i = 0; i < points; i++) {
      const { ra, dec } = placeAround(random);
      objects.appendBigInt(pixel29(ra, dec));
      objects.appendBigInt(FIRST_ID + BigInt(i));
      for (const number of [ra, dec, random()]) objects.appendDouble(number);
      objects.appendVarchar(['matched', 'unmatched', 'pending'][i % 3]!);
      objects.endRow();
      if (i % Math.ceil(points / UPLOADED) === 0) {
        for (const number of [i, ra, dec + ARCSEC * (random() * 2 - 1)]) mine.appendDouble(number);
        mine.endRow();
      }
    }
    objects.closeSync();
    mine.closeSync();
    await connection.run(`ATTACH '${join(folder, 'archive.duckdb')}' AS archive`);
    await connection.run('CREATE TABLE archive.objects AS FROM made ORDER BY healpix_29');
    await connection.run('CREATE INDEX by_id ON archive.objects (diaObjectId)');
    await connection.run('CHECKPOINT archive');
    await connection.run(
      `COPY (SELECT diaObjectId, ra, "dec", reliability, status FROM made) TO '${folder}/objects.csv'`,
    );
    await connection.run(`COPY TAP_UPLOAD.mine TO '${folder}/mine.csv'`);
    await connection.run('DROP TABLE made');
    note('PostgreSQL takes them');
    await postgres.run([
      'CREATE TABLE objects (diaObjectId bigint, ra float8, dec float8, reliability float8, status text)',
      'CREATE TABLE mine (id float8, ra float8, dec float8)',
      `\\copy objects FROM PROGRAM 'tail -n +2 ${folder}/objects.csv' CSV\n`,
      `\\copy mine FROM PROGRAM 'tail -n +2 ${folder}/mine.csv' CSV\n`,
      'CREATE INDEX sky ON objects (q3c_ang2ipix(ra, dec))',
      'CLUSTER objects USING sky',
      'CREATE INDEX ON objects (reliability)',
      'CREATE INDEX ON objects (diaObjectId)',
      'VACUUM ANALYZE objects',
      'ANALYZE mine',
    ]);
    const tables = [{ ...TABLES[0]!, relation: 'archive.objects' }, UPLOAD];
    /** The time from the query's text to the last byte of its answer, without the messages between processes. */
    const ours = async (query: string, format = 'csv') => {
      const { sql, columns } = translate(query, tables, MAX_ROWS + 1);
      const asked = { query, maxRecords: MAX_ROWS, format: tapFormat(format)!, seconds: 600, uploads: [] };
      const connection = await instance.connect();
      await connection.run('BEGIN');
      const job = new QueryRun(connection, columns, asked, () => {});
      await job.begin(sql, async () => []);
      const parts: Uint8Array[] = [];
      for (let part = await job.part(); part; part = await job.part()) parts.push(part);
      job.close();
      return parts;
    };
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    for (const [name, [adql, sql]] of Object.entries(queriesOf(FIRST_ID + BigInt(points >> 1)))) {
      const theirs = (await postgres.rows([sql]))[0]!;
      const count = requireSameRows(name, Buffer.concat(await ours(adql)), theirs);
      await eachMs(WARM_MS, () => ours(adql));
      const times = { csv: [] as number[], binary: [] as number[], theirs: [] as number[] };
      for (let turn = 0; turn < runs; turn++) {
        times.csv.push(await eachMs(TURN_MS, () => ours(adql)));
        times.binary.push(await eachMs(TURN_MS, () => ours(adql, 'votable/b2')));
        times.theirs.push(await postgres.milliseconds(sql, TURNS_OF_THEIRS));
      }
      const [csv, binary, reference] = [times.csv, times.binary, times.theirs].map(median) as [number, number, number];
      json[name] = { csv, binary, reference };
      const shown = [csv, binary, reference].map(ms => ms.toFixed(1));
      rows.push([name, `${count}`, ...shown, ratio(reference / csv), ratio(reference / binary)]);
    }
    const header = ['query', 'rows', 'CSV, ms', 'BINARY2, ms', 'PostgreSQL, ms', 'its over CSV', 'its over BINARY2'];
    return { header, rows, json };
  } finally {
    connection.closeSync();
    await postgres.close();
    rmSync(folder, { recursive: true });
  }
}

export const workload: Workload = {
  name: 'adql',
  summary: 'queries in ADQL over --points objects, beside PostgreSQL with q3c',
  onlyByName: true,
  run,
};
