/**
 * Reports on samples beside the crossmatches that they replace: 1,000 inputs, and tables as jobs of --points rows. The
 * four catalogs are as dense as the real ones at middle latitudes, over DEGREES by DEGREES of the sky.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService, treeCpuMs, withDirectory } from '../../../bench/processes.ts';
import { median, type Options, type Report, ratio, type Workload } from '../../../bench/report.ts';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { columnNames } from '../../../src/core/contract/catalog.ts';
import { type CatalogDefinition, catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { FORMAT_VERSION } from '../../../src/core/store/environment.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { type HatsColumn, writeHats } from '../../core/catalogs/write_hats.ts';
import { type Place, seededRandom } from '../../oracle/skies.ts';

const DEGREES = 4;
/** The corner of the area, degrees. */
const [RA, DEC] = [40, -30];
/** Rows per square arcmin: 1.8 billion rows of Gaia on the whole sky, 690 million of DES on 5,000 square degrees, and so on. */
const DENSITIES = { gaia_dr3: 12, des_y6_gold: 38, delve_dr3_gold: 38, skymapper_dr4: 7.5 } as const;
/** The rows of a partition in published catalogs. */
const PARTITION_ROWS = 1_000_000;
const INPUTS = 1000;
const LOOK_MS = 50;

/** A place in the area, of equal density. */
function placeIn(random: () => number): Place {
  const sine = (dec: number) => Math.sin((dec * Math.PI) / 180);
  const at = sine(DEC) + random() * (sine(DEC + DEGREES) - sine(DEC));
  return { ra: RA + DEGREES * random(), dec: (Math.asin(at) * 180) / Math.PI };
}

/** Values of the columns that rules and magnitudes read; other columns have random numbers. */
function numbersOf(name: string, random: () => number): () => number {
  if (/mag|psf/i.test(name)) return () => 25 - 10.5 * random() ** 2;
  if (/^ext_mash$/i.test(name)) return () => Math.floor(5 * random());
  if (/error|class/i.test(name)) return random;
  return () => 20 * random() - 10;
}

function writeCatalog(location: string, definition: CatalogDefinition, random: () => number): void {
  const { name, idColumn, raColumn, decColumn } = definition;
  const area = DEGREES ** 2 * Math.cos(((DEC + DEGREES / 2) * Math.PI) / 180) * 3600;
  const rows = Math.round(area * DENSITIES[name as keyof typeof DENSITIES]);
  const places = Array.from({ length: rows }, () => placeIn(random));
  const payload = columnNames(definition).filter(column => column !== raColumn && column !== decColumn);
  const columns: HatsColumn[] = [
    { name: idColumn, type: 'INT64', data: BigInt64Array.from({ length: rows }, (_, row) => BigInt(row + 1)) },
    { name: raColumn, type: 'DOUBLE', data: Float64Array.from(places, ({ ra }) => ra) },
    { name: decColumn, type: 'DOUBLE', data: Float64Array.from(places, ({ dec }) => dec) },
    ...payload.map((column): HatsColumn => {
      const value = numbersOf(column, random);
      const isInteger = definition.columns.find(each => each.name === column)?.type === 'int64';
      return isInteger
        ? { name: column, type: 'INT32', data: Int32Array.from({ length: rows }, value) }
        : { name: column, type: 'FLOAT', data: Float32Array.from({ length: rows }, value) };
    }),
  ];
  writeHats(location, { name, columns, ra: raColumn, dec: decColumn, maxRows: PARTITION_ROWS });
}

/** A data directory with the catalogs, made once: 5.2 million rows, which takes minutes. */
async function denseCatalogs(seed: number, note: (text: string) => void): Promise<string> {
  const directory = join(tmpdir(), 'nearsky-bench', `sample-${FORMAT_VERSION}-${DEGREES}-${seed}`);
  const random = seededRandom(seed);
  for (const name of Object.keys(DENSITIES)) {
    const location = join(directory, name);
    if (existsSync(location)) continue;
    note(`writing ${name}`);
    rmSync(`${location}.part`, { recursive: true, force: true });
    mkdirSync(`${location}.part`, { recursive: true });
    writeCatalog(`${location}.part`, catalogDefinition(name)!, random);
    renameSync(`${location}.part`, location);
  }
  return directory;
}

async function register(catalogs: string, data: string): Promise<void> {
  const store = openStore(data, 'write');
  const writer = new Writer(store);
  for (const name of Object.keys(DENSITIES))
    await writer.commit({
      kind: 'register_catalog',
      registration: await registerCatalog(catalogDefinition(name)!, join(catalogs, name), { addedAtUs: 1 }),
    });
  await store.close();
}

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly peakMiB: number;
}

/** The own memory of a process and of its children, MiB (Linux). */
function treeMiB(pid: number): number {
  try {
    const own = Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    return children.reduce((sum, child) => sum + treeMiB(Number(child)), own);
  } catch {
    return 0;
  }
}

async function cost(pid: number, work: () => Promise<unknown>): Promise<Cost> {
  let peakMiB = treeMiB(pid);
  const look = setInterval(() => {
    peakMiB = Math.max(peakMiB, treeMiB(pid));
  }, LOOK_MS);
  const [began, cpu] = [performance.now(), treeCpuMs(pid)];
  try {
    await work();
  } finally {
    clearInterval(look);
  }
  return { wallMs: performance.now() - began, cpuMs: treeCpuMs(pid) - cpu, peakMiB };
}

const csv = (places: readonly Place[]) => `ra,dec\n${places.map(({ ra, dec }) => `${ra},${dec}\n`).join('')}`;

async function post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<Response> {
  const answer = await fetch(url, { method: 'POST', body, headers });
  if (answer.status > 202) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer;
}

/** Runs a job to its end, and reads its result. */
async function job(url: string, table: string): Promise<number> {
  const made = await post(url, table, { 'Content-Type': 'text/csv', Prefer: 'respond-async' });
  const address = new URL(new URL(made.headers.get('Location')!).pathname, url).href;
  for (;;) {
    const phase = await (await fetch(`${address}/phase`)).text();
    if (phase === 'COMPLETED') break;
    if (phase === 'ERROR' || phase === 'ABORTED') throw new Error(await (await fetch(address)).text());
    await sleep(LOOK_MS);
  }
  let bytes = 0;
  for await (const part of (await fetch(`${address}/results/result`)).body!) bytes += part.length;
  await fetch(address, { method: 'DELETE', redirect: 'manual' });
  return bytes;
}

async function run({ points, seed, runs }: Options, note: (text: string) => void): Promise<Report> {
  const catalogs = await denseCatalogs(seed, note);
  return await withDirectory(async data => {
    await register(catalogs, data);
    // On a busy machine, too, each request is answered.
    process.env.API_REQUEST_BUDGET_SECONDS = '120';
    const { service, url } = await startService(data, undefined, ['--no-crossmatch', '--no-refresh']);
    const pid = service.process.pid!;
    const random = seededRandom(seed + 1);
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    const add = (name: string, { wallMs, cpuMs, peakMiB }: Cost, reference?: Cost) => {
      const [wall, cpu] = [wallMs, cpuMs].map(ms => `${(ms / 1000).toFixed(2)} s`);
      rows.push([name, wall!, cpu!, `${peakMiB.toFixed(0)} MiB`, reference ? ratio(cpuMs / reference.cpuMs) : '']);
      json[name] = { wallMs, cpuMs, peakMiB };
      note(rows.at(-1)!.join(' '));
    };
    try {
      while (!(await fetch(`${url}/readyz`)).ok) await sleep(LOOK_MS);
      const few = Array.from({ length: INPUTS }, () => placeIn(random));
      const inputs = JSON.stringify({ inputs: few.map(place => ({ kind: 'position', ...place })) });
      const report = async () =>
        await (await post(`${url}/api/sample`, inputs, { 'Content-Type': 'application/json' })).text();
      const calls = async () => {
        for (const against of Object.keys(DENSITIES)) await job(`${url}/api/crossmatch?against=${against}`, csv(few));
      };
      const turns = async (work: () => Promise<unknown>) => {
        const all: Cost[] = [];
        for (let i = 0; i < runs; i++) all.push(await cost(pid, work));
        const middle = (of: keyof Cost) => median(all.map(each => each[of]));
        return [all[0]!, { wallMs: middle('wallMs'), cpuMs: middle('cpuMs'), peakMiB: middle('peakMiB') }] as const;
      };
      const [firstCalls, fourCalls] = await turns(calls);
      add(`four crossmatches of ${INPUTS} rows, first`, firstCalls);
      add(`four crossmatches of ${INPUTS} rows`, fourCalls);
      const [first, each] = await turns(report);
      add(`report on ${INPUTS} rows, first`, first, firstCalls);
      add(`report on ${INPUTS} rows`, each, fourCalls);
      for (const count of [Math.round(points / 10), points]) {
        const many = csv(Array.from({ length: count }, () => placeIn(random)));
        const crossmatch = await cost(pid, () => job(`${url}/api/crossmatch?against=all&format=csv`, many));
        add(`crossmatch of ${count} rows with all catalogs`, crossmatch);
        for (const format of ['csv', 'json'])
          add(
            `report on ${count} rows, ${format}`,
            await cost(pid, () => job(`${url}/api/sample?format=${format}`, many)),
            crossmatch,
          );
      }
    } finally {
      await service.stop();
    }
    return { header: ['', 'wall', 'CPU', 'peak', 'CPU to crossmatch'], rows, json };
  });
}

export const workload: Workload = {
  name: 'sample',
  summary: 'reports on samples beside crossmatches; --points is the rows of the largest table, up to 1 million',
  onlyByName: true,
  run,
};
