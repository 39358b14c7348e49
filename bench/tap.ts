/**
 * Queries in ADQL over HTTP: the same queries to `nearsky serve` and to DaCHS, over the same objects, with the same
 * client. Both are asked for BINARY2 and read to the last byte; an uploaded table is a VOTable as TOPCAT sends it,
 * TABLEDATA.
 */

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pixel29 } from '@nearsky/sky-index';
import { Agent, FormData, request } from 'undici';
import { openStore } from '../src/core/store/store.ts';
import { Writer } from '../src/core/store/writer.ts';
import { DACHS_SETTINGS, Dachs, whyNoDachs } from '../test/adql/oracle/dachs.ts';
import { Postgres, whyNoPostgres } from '../test/adql/oracle/postgres.ts';
import { column, position } from '../test/adql/support.ts';
import { startServer } from '../test/e2e/support.ts';
import { seededRandom } from '../test/oracle/skies.ts';
import { withDirectory } from './processes.ts';
import { median, type Options, type Report, ratio, type Workload } from './report.ts';
import { placeAround } from './sky.ts';

/** The rows of the table that is joined. */
const UPLOADED = 100_000;
const ARCSEC = 1 / 3600;
const BATCH = 20_000;
const FIRST_ID = 170_055_002_004_914_266n;
/** The time for the tables of a new archive. */
const READY_MS = 600_000;
const TIME_US = 1_790_000_000_000_000;
const BROKERS = ['antares', 'lasair', 'pittgoogle'] as const;

const OBJECTS = {
  schema: 'nearsky',
  name: 'objects',
  description: 'Objects',
  columns: [
    column('diaobjectid', 'int64'),
    column('ra', 'float64', 'deg'),
    column('dec', 'float64', 'deg'),
    column('reliability', 'float64'),
    column('brokers', 'text'),
  ],
  position,
} as const;

const QUERIES: Readonly<Record<string, string>> = {
  'cone of 1 degree':
    'SELECT diaobjectid, ra, dec FROM nearsky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(150.1, 2.2, 1))',
  'cone of 1"': `SELECT diaobjectid, ra, dec FROM nearsky.objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(150.1, 2.2, ${ARCSEC}))`,
  'count by filter': "SELECT COUNT(*) AS n FROM nearsky.objects WHERE reliability > 0.5 AND brokers = 'lasair'",
  'group by': 'SELECT brokers, COUNT(*) AS n, AVG(reliability) AS mean FROM nearsky.objects GROUP BY brokers',
  'join within 1"': `SELECT m.id, o.diaobjectid FROM nearsky.objects AS o JOIN TAP_UPLOAD.mine AS m ON 1 = CONTAINS(POINT(o.ra, o.dec), CIRCLE(m.ra, m.dec, ${ARCSEC}))`,
};

interface Sky {
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  readonly reliability: Float64Array;
}

/** Objects in the order of their pixels. */
function skyOf(points: number, random: () => number): Sky {
  const [ra, dec] = [new Float64Array(points), new Float64Array(points)];
  const pixels = new BigInt64Array(points);
  for (let i = 0; i < points; i++) {
    const place = placeAround(random);
    [ra[i], dec[i]] = [place.ra, place.dec];
    pixels[i] = pixel29(place.ra, place.dec);
  }
  const order = new Uint32Array(points).map((_, i) => i);
  order.sort((a, b) => (pixels[a]! < pixels[b]! ? -1 : 1));
  const sorted = (of: Float64Array) => of.map((_, i) => of[order[i]!]!);
  return { ra: sorted(ra), dec: sorted(dec), reliability: new Float64Array(points).map(() => random()) };
}

async function store({ ra, dec, reliability }: Sky, data: string): Promise<void> {
  const store = openStore(data, 'write');
  const writer = new Writer(store);
  for (let from = 0; from < ra.length; from += BATCH) {
    const deliveries = Array.from({ length: Math.min(BATCH, ra.length - from) }, (_, k) => ({
      diaObjectId: FIRST_ID + BigInt(from + k),
      position: { ra: ra[from + k]!, dec: dec[from + k]! },
      reliability: reliability[from + k]!,
      eventTimeUs: TIME_US,
      broker: BROKERS[(from + k) % 3]!,
    }));
    await writer.ingest(deliveries, TIME_US + from);
  }
  await store.close();
}

async function writeCsv({ ra, dec, reliability }: Sky, path: string): Promise<void> {
  const file = createWriteStream(path);
  for (let from = 0; from < ra.length; from += BATCH) {
    const lines = Array.from({ length: Math.min(BATCH, ra.length - from) }, (_, k) => {
      const i = from + k;
      return `${FIRST_ID + BigInt(i)},${ra[i]},${dec[i]},${reliability[i]},${BROKERS[i % 3]}\n`;
    });
    if (!file.write(lines.join(''))) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
}

/** Positions within 1.4" of objects: id, ra, dec. */
function positionsNear({ ra, dec }: Sky, random: () => number): readonly (readonly (string | null)[])[] {
  const step = Math.ceil(ra.length / UPLOADED);
  return Array.from({ length: Math.floor(ra.length / step) }, (_, i) => {
    const y = Math.max(-90, Math.min(90, dec[i * step]! + ARCSEC * (random() * 2 - 1)));
    return [`${i}`, `${ra[i * step]}`, `${y}`];
  });
}

/** Rows of id, ra and dec as a VOTable. */
export function uploadOf(rows: readonly (readonly (string | null)[])[]): string {
  const lines = rows.map(row => `<TR>${row.map(cell => `<TD>${cell}</TD>`).join('')}</TR>`);
  return `<?xml version="1.0"?><VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>
<FIELD name="id" datatype="long"/><FIELD name="ra" datatype="double" unit="deg"/><FIELD name="dec" datatype="double" unit="deg"/>
<DATA><TABLEDATA>${lines.join('\n')}</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`;
}

const dispatcher = new Agent({ headersTimeout: 300_000, bodyTimeout: 300_000, pipelining: 0 });

/** Sends a query to a service. @throws Error if the answer is an error */
export async function ask(url: string, query: string, format: string, upload = '') {
  const form = new FormData();
  for (const [key, value] of Object.entries({ LANG: 'ADQL', RESPONSEFORMAT: format, MAXREC: '1000000', QUERY: query }))
    form.append(key, value);
  if (query.includes('TAP_UPLOAD')) {
    form.append('UPLOAD', 'mine,param:mine');
    form.append('mine', new Blob([upload]), 'mine.xml');
  }
  const began = performance.now();
  const { statusCode, body } = await request(`${url}/sync`, { method: 'POST', body: form, dispatcher });
  const answer = Buffer.from(await body.arrayBuffer());
  const ms = performance.now() - began;
  if (statusCode !== 200 || answer.includes('value="ERROR"'))
    throw new Error(`${url}, ${query}: ${statusCode} ${answer.subarray(0, 2000)}`);
  return { ms, answer };
}

/** Waits until a service has made its tables. */
export async function tablesReady(url: string): Promise<void> {
  const isReady = () => ask(url, 'SELECT TOP 1 ra FROM nearsky.objects', 'csv').catch(() => undefined);
  for (const began = performance.now(); !(await isReady()); await sleep(1000))
    if (performance.now() - began > READY_MS) throw new Error('the tables of nearsky are not made');
}

/** The rows of a CSV answer in canonical order; numbers with a fraction are cut to ten digits. */
function rowsOf(csv: Buffer): string[] {
  const cells = (line: string) =>
    line.split(',').map(cell => (cell.includes('.') ? Number(cell).toPrecision(10) : cell));
  const lines = csv.toString().trim().split(/\r?\n/).slice(1);
  return lines.map(line => cells(line).join(',')).sort();
}

async function run({ points, seed, runs }: Options, note: (text: string) => void): Promise<Report> {
  const obstacle = whyNoPostgres() ?? whyNoDachs();
  if (obstacle) throw new Error(obstacle);
  return await withDirectory(async folder => {
    const random = seededRandom(seed);
    note(`${points} objects are made`);
    const sky = skyOf(points, random);
    const upload = uploadOf(positionsNear(sky, random));
    const data = join(folder, 'data');
    await store(sky, data);
    const settings = `-c shared_buffers=1GB -c work_mem=64MB -c max_wal_size=8GB ${DACHS_SETTINGS}`;
    const postgres = await Postgres.start([], [], settings);
    let dachs: Dachs | undefined;
    const server = await startServer(['serve', '--data', data, '--port', '0']);
    try {
      // PostgreSQL's client may run as another user.
      const csv = join(postgres.folder, 'objects.csv');
      await writeCsv(sky, csv);
      note('DaCHS takes them');
      dachs = await Dachs.start(postgres, [OBJECTS], () =>
        postgres.run([
          `\\copy nearsky.objects FROM '${csv}' CSV\n`,
          'CLUSTER nearsky.objects USING objects_q3c_objects',
          'CREATE INDEX ON nearsky.objects (reliability)',
          'CREATE UNIQUE INDEX ON nearsky.objects (diaobjectid)',
          'VACUUM ANALYZE nearsky.objects',
        ]),
      );
      const [ours, theirs] = [`${server.url}/vo/tap`, dachs.url];
      note('the tables of nearsky are made');
      await tablesReady(ours);
      const rows: string[][] = [];
      const json: Record<string, unknown> = {};
      for (const [name, query] of Object.entries(QUERIES)) {
        const [a, b] = [await ask(ours, query, 'csv', upload), await ask(theirs, query, 'csv', upload)];
        const [mine, other] = [rowsOf(a.answer), rowsOf(b.answer)];
        if (mine.join() !== other.join())
          throw new Error(`${name}: ${mine.length} rows, ${other.length} of DaCHS: ${mine[0]} and ${other[0]}`);
        const times = { ours: [] as number[], theirs: [] as number[] };
        for (let turn = 0; turn < runs; turn++) {
          times.ours.push((await ask(ours, query, 'votable/b2', upload)).ms);
          times.theirs.push((await ask(theirs, query, 'votable/b2', upload)).ms);
        }
        const [x, y] = [median(times.ours), median(times.theirs)];
        json[name] = { ms: x, reference: y };
        note(name);
        rows.push([name, `${mine.length}`, x.toFixed(1), y.toFixed(1), ratio(y / x)]);
      }
      return { header: ['query', 'rows', 'ms', 'DaCHS, ms', 'ratio'], rows, json };
    } finally {
      await server.stop();
      dachs?.close();
      await postgres.close();
    }
  });
}

export const tap: Workload = {
  name: 'tap',
  summary: 'queries in ADQL over HTTP over --points objects, beside DaCHS',
  onlyByName: true,
  run,
};
