/**
 * The patterns by which LSDB's users measure, over --points catalog rows and 0.3 objects for each: a cone in a night, the
 * new objects of a night, objects by id, the crossmatch of all catalog rows with the objects, and counts per night. In
 * turns with LSDB (TEST_PYTHON), STILTS and PostgreSQL with q3c, as far as they are installed; all rows are compared.
 * nearsky, LSDB and PostgreSQL are running programs; STILTS starts anew for each query.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { request } from 'undici';
import { Postgres, whyNoPostgres } from '../test/adql/oracle/postgres.ts';
import { nearsky, startServer } from '../test/e2e/support.ts';
import { anywhere, seededRandom } from '../test/oracle/skies.ts';
import { pythonWith, whyNoPython } from '../test/python.ts';
import { DAY_US, FIRST_TIME_US, hatsSky } from './hats_sky.ts';
import { timed, withDirectory } from './processes.ts';
import { median, type Options, type Report, type Workload } from './report.ts';
import { measured, middle, ms, type Times } from './sources.ts';
import { ask, tablesReady, uploadOf } from './tap.ts';

const OBJECT_SHARE = 0.3;
const CONE_DEGREES = 3;
const NIGHT = 4;
const ARCSEC = 1 / 3600;
const TIMES = 3;
const UNIX_EPOCH_MJD = 40_587;
const MODULES = 'lsdb, hats, pyarrow';
/** A day before the first night, and its start and end, so that each night is a whole number of days later. */
const FIRST_MJD = UNIX_EPOCH_MJD + (FIRST_TIME_US - DAY_US / 2) / DAY_US;
const [FROM_US, TO_US] = [0, 1].map(later => FIRST_TIME_US + (NIGHT + later - 0.5) * DAY_US) as [number, number];
const iso = (us: number) => new Date(us / 1000).toISOString().slice(0, 23);
const IN_NIGHT = `mjd >= ${FIRST_MJD + NIGHT} AND mjd < ${FIRST_MJD + NIGHT + 1}`;

/** One way to ask: the rows of a pattern as texts, and how long it took. */
interface Side {
  /** The process whose CPU time counts, with its descendants; undefined if the answer states the time. */
  readonly pid?: number;
  rows(pattern: string): Promise<readonly string[]>;
  /** How often a turn asks, because CPU time is counted in ticks. */
  readonly times: number;
  /** @returns the median of as many queries, ms; with the CPU time, ms, if there is no pid */
  time(pattern: string, times: number): Promise<number | Times[number]>;
  close(): Promise<void> | void;
}

interface Setup {
  readonly folder: string;
  readonly catalog: string;
  readonly catalogFits: string;
  readonly place: { readonly ra: number; readonly dec: number };
  /** Ids of objects, by the number of them. */
  readonly ids: ReadonlyMap<number, readonly string[]>;
}

const COUNTS = [1, 100, 10_000];
const PATTERNS = [
  'a cone in a night',
  'new objects of a night',
  ...COUNTS.map(count => `${count} ids`),
  'crossmatch',
  'counts per night',
];
const idsOf = ({ ids }: Setup, pattern: string) => ids.get(Number(/^(\d+) ids$/.exec(pattern)?.[1]));
const linesOf = (csv: string) =>
  csv
    .trim()
    .split(/\r?\n/)
    .map(line => line.replaceAll('"', ''));

function nearskySide(setup: Setup, url: string, pid: number): Side {
  const { ra, dec } = setup.place;
  const night = `event_time >= '${iso(FROM_US)}' AND event_time < '${iso(TO_US)}'`;
  const cone = `1 = CONTAINS(POINT(ra, dec), CIRCLE(${ra}, ${dec}, ${CONE_DEGREES}))`;
  const queryOf = (pattern: string) => {
    const ids = idsOf(setup, pattern);
    if (ids && ids.length > 100)
      return 'SELECT o.diaObjectId FROM nearsky.objects AS o JOIN TAP_UPLOAD.mine AS m ON o.diaObjectId = m.id';
    if (ids) return `SELECT diaObjectId FROM nearsky.objects WHERE diaObjectId IN (${ids})`;
    if (pattern === 'counts per night')
      return `SELECT FLOOR(ivo_to_mjd(event_time) - ${FIRST_MJD}) AS night, COUNT(*) AS n FROM nearsky.objects GROUP BY night`;
    return `SELECT diaObjectId FROM nearsky.objects WHERE ${pattern.includes('cone') ? `${cone} AND ` : ''}${night}`;
  };
  const table = readFileSync(setup.catalogFits);
  const answer = async (pattern: string): Promise<{ ms: number; text: string }> => {
    if (pattern !== 'crossmatch') {
      const upload = uploadOf((idsOf(setup, pattern) ?? []).map(id => [id, '0', '0']));
      const { ms, answer } = await ask(`${url}/vo/tap`, queryOf(pattern), 'csv', upload);
      return { ms, text: answer.toString() };
    }
    const began = performance.now();
    const address = `${url}/api/crossmatch?radius_arcsec=1&rows=matched&columns=id&format=csv`;
    const headers = { 'Content-Type': 'application/fits' };
    const { statusCode, body } = await request(address, { method: 'POST', headers, body: table });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${address}: ${statusCode} ${text.slice(0, 500)}`);
    return { ms: performance.now() - began, text };
  };
  return {
    pid,
    times: TIMES,
    rows: async pattern => {
      const [head, ...lines] = linesOf((await answer(pattern)).text);
      const object = head!.split(',').indexOf('nearsky_diaObjectId');
      return object < 0 ? lines : lines.map(line => `${line.split(',')[0]},${line.split(',')[object]}`);
    },
    time: async (pattern, times) => {
      const each: number[] = [];
      for (let i = 0; i < times; i++) each.push((await answer(pattern)).ms);
      return median(each);
    },
    close: () => {},
  };
}

/** Reads a pattern from each line, and prints how long it took, and its rows for the word rows before it. */
const LSDB = `
import json, sys, time
import dask, lsdb, pandas, pyarrow.dataset
setup = json.load(open(sys.argv[1]))
archive, catalog = setup["archive"], setup["archive"] + "/rows"
rows = pyarrow.dataset.dataset(setup["catalog"] + "/dataset").to_table(columns=["source_id", "ra", "dec"]).to_pandas()
lsdb.from_dataframe(rows, ra_column="ra", dec_column="dec", catalog_name="rows").write_catalog(catalog)
first, last = (pandas.Timestamp(us, unit="us", tz="UTC") for us in setup["night"])

def opened(columns=("diaObjectId", "ra", "dec"), filters=None):
    return lsdb.open_catalog(f"{archive}/objects", columns=list(columns), filters=filters)

def run(pattern):
    if pattern == "crossmatch":
        pairs = lsdb.open_catalog(catalog).crossmatch(opened(), n_neighbors=1, radius_arcsec=1, suffixes=("_c", "_o"), suffix_method="all_columns").compute()
        return [f"{a},{b}" for a, b in zip(pairs["source_id_c"], pairs["diaObjectId_o"])]
    if pattern == "counts per night":
        times = opened(["event_time"]).compute()["event_time"]
        days = (times - pandas.Timestamp(setup["first"], unit="us", tz="UTC")) // pandas.Timedelta(days=1)
        return [f"{int(night)},{count}" for night, count in days.value_counts().items()]
    if pattern.endswith(" ids"):
        ids = [int(each) for each in setup["ids"][pattern]]
        return [str(each) for each in opened(filters=[("diaObjectId", "in", ids)]).compute()["diaObjectId"]]
    objects = opened(filters=[("event_time", ">=", first), ("event_time", "<", last)])
    if "cone" in pattern:
        objects = objects.cone_search(**setup["cone"])
    return [str(each) for each in objects.compute()["diaObjectId"]]

with dask.config.set(scheduler="threads", num_workers=2):
    for line in sys.stdin:
        word, pattern = line.strip().split(" ", 1)
        began = time.perf_counter()
        rows = run(pattern)
        ms = 1000 * (time.perf_counter() - began)
        print(json.dumps({"ms": ms, "rows": rows if word == "rows" else []}), flush=True)
`;

function lsdbSide(setup: Setup): Side {
  const { folder, catalog, place, ids } = setup;
  const [script, settings] = [join(folder, 'patterns.py'), join(folder, 'patterns.json')];
  writeFileSync(script, LSDB);
  const byPattern = Object.fromEntries([...ids].map(([count, each]) => [`${count} ids`, each]));
  const night = { night: [FROM_US, TO_US], first: FIRST_TIME_US - DAY_US / 2 };
  const cone = { ...place, radius_arcsec: CONE_DEGREES * 3600 };
  writeFileSync(
    settings,
    JSON.stringify({ archive: join(folder, 'archive'), catalog, ids: byPattern, cone, ...night }),
  );
  const child = spawn(pythonWith(MODULES)!, ['-W', 'ignore', script, settings], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const send = async (word: string, pattern: string): Promise<{ ms: number; rows: string[] }> => {
    child.stdin.write(`${word} ${pattern}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`LSDB ended at ${pattern}`);
    return JSON.parse(value);
  };
  return {
    pid: child.pid!,
    times: 1,
    rows: async pattern => (await send('rows', pattern)).rows,
    time: async pattern => (await send('time', pattern)).ms,
    close: () => void child.kill(),
  };
}

function whyNoStilts(): string | undefined {
  try {
    execFileSync('stilts', ['-version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'apt-get install stilts';
  }
}

function stiltsSide(setup: Setup): Side {
  const { folder, place, catalogFits } = setup;
  const objects = join(folder, 'objects.fits');
  const out = join(folder, 'stilts.csv');
  const night = `mjd >= ${FIRST_MJD + NIGHT} && mjd < ${FIRST_MJD + NIGHT + 1}`;
  const near = `skyDistanceDegrees(ra, dec, ${place.ra}, ${place.dec}) <= ${CONE_DEGREES}`;
  const pipe = (...commands: readonly string[]) => [
    ...['tpipe', `in=${objects}`, `out=${out}`, 'ofmt=csv-noheader'],
    ...commands.map(command => `cmd=${command}`),
  ];
  const argsOf = (pattern: string): readonly string[] => {
    const ids = idsOf(setup, pattern);
    const found = [`out=${out}`, 'ofmt=csv-noheader'];
    if (ids?.length === 1) return pipe(`select "id == ${ids[0]}L"`, 'keepcols id');
    if (ids) {
      const wanted = join(folder, `${ids.length}.csv`);
      writeFileSync(wanted, `id\n${ids.join('\n')}\n`);
      const tables = [`in1=${objects}`, `in2=${wanted}`, 'ifmt2=csv', 'values1=id', 'values2=id'];
      return [
        'tmatch2',
        'progress=none',
        ...tables,
        'matcher=exact',
        'join=1and2',
        'find=best',
        'ocmd=keepcols id_1',
        ...found,
      ];
    }
    if (pattern === 'crossmatch') {
      const tables = [`in1=${catalogFits}`, `in2=${objects}`, 'ra1=ra', 'dec1=dec', 'ra2=ra', 'dec2=dec'];
      return ['tskymatch2', ...tables, 'error=1', 'find=best1', 'join=1and2', ...found];
    }
    if (pattern === 'counts per night')
      return pipe(
        `addcol night "(int) (mjd - ${FIRST_MJD})"`,
        'sort night',
        'uniq -count night',
        'keepcols "night DupCount"',
      );
    return pipe(`select "${pattern.includes('cone') ? `${near} && ` : ''}${night}"`, 'keepcols id');
  };
  const run = async (pattern: string): Promise<Times[number]> => {
    const { seconds, cpuSeconds } = await timed('stilts', argsOf(pattern));
    return [1000 * seconds, 1000 * cpuSeconds];
  };
  return {
    times: 1,
    rows: async pattern => {
      await run(pattern);
      const lines = linesOf(readFileSync(out, 'utf8'));
      // Id, right ascension and declination of both.
      return pattern === 'crossmatch' ? lines.map(line => `${line.split(',')[0]},${line.split(',')[3]}`) : lines;
    },
    time: run,
    close: () => {},
  };
}

async function postgresSide(setup: Setup): Promise<Side> {
  const { folder, place } = setup;
  const postgres = await Postgres.start([], [], '-c shared_buffers=1GB -c work_mem=64MB -c max_wal_size=8GB');
  await postgres.run([
    'CREATE TABLE objects (id bigint, ra float8, dec float8, mjd float8)',
    'CREATE TABLE sources (id bigint, ra float8, dec float8)',
    `\\copy objects FROM PROGRAM 'tail -n +2 ${folder}/objects.csv' CSV\n`,
    `\\copy sources FROM '${folder}/sources.csv' CSV\n`,
    'CREATE INDEX sky ON objects (q3c_ang2ipix(ra, dec))',
    'CLUSTER objects USING sky',
    'CREATE UNIQUE INDEX ON objects (id)',
    'CREATE INDEX ON objects (mjd)',
    'CREATE TABLE many (id bigint)',
    `INSERT INTO many VALUES ${setup.ids.get(COUNTS.at(-1)!)!.map(id => `(${id})`)}`,
    'VACUUM ANALYZE',
  ]);
  const sqlOf = (pattern: string) => {
    const ids = idsOf(setup, pattern);
    if (ids && ids.length > 100) return 'SELECT id FROM objects JOIN many USING (id)';
    if (ids) return `SELECT id FROM objects WHERE id IN (${ids})`;
    if (pattern === 'counts per night')
      return `SELECT floor(mjd - ${FIRST_MJD})::int AS night, count(*) FROM objects GROUP BY night`;
    if (pattern === 'crossmatch')
      return `SELECT s.id AS a, n.id AS b FROM sources AS s CROSS JOIN LATERAL (SELECT o.id FROM objects AS o WHERE q3c_join(s.ra, s.dec, o.ra, o.dec, ${ARCSEC}) ORDER BY q3c_dist(s.ra, s.dec, o.ra, o.dec) LIMIT 1) AS n`;
    const cone = `q3c_radial_query(ra, dec, ${place.ra}, ${place.dec}, ${CONE_DEGREES}) AND `;
    return `SELECT id FROM objects WHERE ${pattern.includes('cone') ? cone : ''}${IN_NIGHT}`;
  };
  return {
    pid: Number(readFileSync(join(postgres.folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]),
    times: TIMES,
    rows: async pattern => (await postgres.rows([sqlOf(pattern)]))[0]!.map(cells => cells.join(',')),
    time: (pattern, times) => postgres.milliseconds(sqlOf(pattern), times - 1),
    close: () => postgres.close(),
  };
}

async function run({ points, seed, runs }: Options, note: (text: string) => void): Promise<Report> {
  const sky = await hatsSky({ sources: points, objects: Math.round(points * OBJECT_SHARE), seed }, note);
  return await withDirectory(async folder => {
    // PostgreSQL's client may run as another user.
    chmodSync(folder, 0o755);
    const data = join(folder, 'data');
    cpSync(sky.data, data, { recursive: true });
    note('nearsky exports the archive');
    await nearsky('export', '--format', 'hats', join(folder, 'archive'), '--data', data);
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch'], {
      API_MAX_TABLE_ROWS: `${Math.max(1_000_000, points)}`,
      API_REQUEST_BUDGET_SECONDS: '600',
      TAP_QUERY_SECONDS: '120',
    });
    const tap = `${server.url}/vo/tap`;
    await tablesReady(tap);
    const all = 'SELECT diaObjectId AS id, ra, dec, ivo_to_mjd(event_time) AS mjd FROM nearsky.objects';
    for (const format of ['csv', 'fits'])
      writeFileSync(join(folder, `objects.${format}`), (await ask(tap, all, format)).answer);
    const lines = readFileSync(join(folder, 'objects.csv'), 'utf8').trim().split(/\r?\n/).slice(1);
    const step = (count: number) => Math.max(1, Math.floor(lines.length / count));
    const idsOf = (count: number) =>
      lines
        .filter((_, i) => i % step(count) === 0)
        .slice(0, count)
        .map(line => line.split(',')[0]!);
    // A crowd of sources.
    const place = anywhere(seededRandom(seed));
    const ids = new Map(COUNTS.map(count => [count, idsOf(count)]));
    const { catalog, catalogFits } = sky;
    const setup: Setup = { folder, catalog, catalogFits, place, ids };
    const whyNot = { LSDB: whyNoPython(MODULES), STILTS: whyNoStilts(), PostgreSQL: whyNoPostgres() ?? whyNoStilts() };
    const sides: Record<string, Side> = { nearsky: nearskySide(setup, server.url, server.child.pid!) };
    const rows: string[][] = [];
    const json: Record<string, unknown> = { objects: lines.length, rows: points, missing: whyNot };
    try {
      if (!whyNot.LSDB) sides.LSDB = lsdbSide(setup);
      if (!whyNot.STILTS) sides.STILTS = stiltsSide(setup);
      if (!whyNot.PostgreSQL) {
        note('PostgreSQL takes the rows');
        const columns = [`in=${catalogFits}`, `out=${folder}/sources.csv`, 'ofmt=csv-noheader'];
        execFileSync('stilts', ['tpipe', ...columns]);
        sides.PostgreSQL = await postgresSide(setup);
      }
      for (const pattern of PATTERNS) {
        const expected = (await sides.nearsky!.rows(pattern)).toSorted().join('\n');
        for (const [name, side] of Object.entries(sides).slice(1)) {
          const found = (await side.rows(pattern)).toSorted().join('\n');
          if (found !== expected)
            throw new Error(`${pattern}: ${name} has\n${found.slice(0, 200)}\nnearsky\n${expected.slice(0, 200)}`);
        }
        const times: Record<string, Times> = Object.fromEntries(Object.keys(sides).map(name => [name, []]));
        for (let turn = 0; turn < runs; turn++)
          for (const [name, side] of Object.entries(sides)) times[name]!.push(await oneTurn(side, pattern));
        json[pattern] = times;
        rows.push([pattern, `${expected.split('\n').length}`, ...Object.values(times).flatMap(cells)]);
        note(rows.at(-1)!.join(', '));
      }
    } finally {
      for (const side of Object.values(sides)) await side.close();
      await server.stop();
    }
    const header = ['', 'rows', ...Object.keys(sides).flatMap(name => [`${name}, ms`, 'least to most', 'CPU, ms'])];
    for (const [name, why] of Object.entries(whyNot)) if (why) rows.push([`no ${name}: ${why}`]);
    return { header, rows, json };
  });
}

async function oneTurn(side: Side, pattern: string): Promise<Times[number]> {
  if (side.pid === undefined) return (await side.time(pattern, 1)) as Times[number];
  return measured(side.pid, () => side.time(pattern, side.times) as Promise<number>, side.times);
}

const cells = (times: Times) => {
  const walls = times.map(([wall]) => wall);
  const [wall, cpu] = middle(times);
  return [wall!, `${ms(Math.min(...walls))} to ${ms(Math.max(...walls))}`, cpu!];
};

export const patterns: Workload = {
  name: 'patterns',
  summary: 'a cone in a night, new objects, ids, a crossmatch, counts; beside LSDB, STILTS and PostgreSQL',
  onlyByName: true,
  run,
};
