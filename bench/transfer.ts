/**
 * Export and import of a store like that after a night, in lines per second of processor time, compared with plain JSON
 * of the same lines.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportStore } from '../src/capabilities/transfer/exporter.ts';
import { Importer } from '../src/capabilities/transfer/importer.ts';
import { loadConfig } from '../src/core/config/config.ts';
import { CATALOGS } from '../src/core/contract/catalogs.ts';
import { RejectLog } from '../src/core/ingest/rejects.ts';
import { packSource } from '../src/core/store/records.ts';
import { openStore, type Store } from '../src/core/store/store.ts';
import type { CrossmatchResult, ProvenanceSet } from '../src/core/store/types.ts';
import { Writer } from '../src/core/store/writer.ts';
import { NO_TRANSIENT } from '../src/core/tns/association.ts';
import { seededRandom } from '../test/oracle/skies.ts';
import { median, type Options, ratio, type Workload } from './report.ts';

const OBJECTS = 60_000;
const BATCH = 10_000;
const FIRST_ID = 170_000_000_000_000_000n;
const TIME_US = 1_790_000_000_123_456;

const PROVENANCE: ProvenanceSet = {
  crossmatch_radius_arcsec: 1,
  catalogs: CATALOGS.map(({ name, release }) => ({ name, release })),
  reliability_cuts: ['antares', 'lasair', 'pittgoogle'].map(broker => ({
    broker,
    min_reliability: 0.6,
    enforced_by: 'broker',
    status: 'declared',
    as_of: '2026-10-01',
  })),
};

const OUTCOMES: CrossmatchResult['catalogOutcomes'] = CATALOGS.map(({ name }) => [name, 'searched']);
const PAYLOADS = CATALOGS.map(({ columns }) => ({
  keys: columns.map(({ name }) => name.toLowerCase()),
  types: columns.map(({ type }) => type),
}));

/**
 * Two objects in three with a source in Gaia, one in three in DES too, one in ten with a transient: as a crossmatch
 * gives them, with outcomes and names of values that all share.
 */
function crossmatchOf(diaObjectId: bigint, i: number, random: () => number): CrossmatchResult {
  const matches = CATALOGS.slice(0, i % 3).map(({ name }, catalog) => {
    const { keys, types } = PAYLOADS[catalog]!;
    const values = types.map(type => {
      if (random() < 0.1) return null;
      return type === 'float64' ? 20 * random() : Math.floor(20 * random());
    });
    return {
      catalogName: name,
      catalogSourceId: String(4_611_686_018_427_387_905n + BigInt(i)),
      separationArcsec: random(),
      source: { keys, packed: packSource(360 * random(), 90 * random(), values) },
    };
  });
  const checked = { checked: true, snapshotEpochUs: TIME_US } as const;
  const tns =
    i % 10 === 0
      ? {
          ...checked,
          objid: i,
          name: `2026x${i}`,
          namePrefix: 'SN',
          classification: 'SN Ia',
          redshift: 0.02,
          separationArcsec: 0.5,
        }
      : { ...checked, ...NO_TRANSIENT };
  return { diaObjectId, catalogOutcomes: OUTCOMES, matches, tns };
}

/** Stores this number of crossmatched objects. */
export async function fill(store: Store, seed: number, objects = OBJECTS, writer = new Writer(store)): Promise<void> {
  const random = seededRandom(seed);
  for (let from = 0; from < objects; from += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, objects - from) }, (_, k) => FIRST_ID + BigInt(from + k));
    const deliveries = ids.map(diaObjectId => ({
      diaObjectId,
      position: { ra: 360 * random(), dec: 180 * random() - 90 },
      reliability: random(),
      eventTimeUs: TIME_US,
      broker: 'lasair' as const,
    }));
    await writer.ingest(deliveries, TIME_US + from);
    await writer.recordCrossmatches(
      ids.map((id, k) => crossmatchOf(id, from + k, random)),
      PROVENANCE,
      TIME_US,
    );
  }
}

/** Processor seconds of an action, over all threads of this process. */
async function cpuSeconds(action: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await action();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

async function importInto(dataDir: string, file: string): Promise<number> {
  const store = openStore(dataDir, 'write');
  const rejects = new RejectLog({ ...loadConfig(), NEARSKY_DATA: dataDir }, 'import');
  const writer = new Writer(store);
  const importer = new Importer({
    dataDir,
    writer,
    rejects,
    onReject: ({ reason }) => console.error(reason),
    onBatch: () => {},
  });
  const seconds = await cpuSeconds(async () => {
    await importer.importFile(file);
    await importer.finish();
  });
  await importer.close();
  rejects.close();
  await store.close();
  return seconds;
}

async function run({ seed, runs }: Options, note: (text: string) => void) {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-bench-'));
  try {
    const store = openStore(join(directory, 'data'), 'write');
    note(`storing ${OBJECTS} objects`);
    await fill(store, seed);
    const file = join(directory, 'lines.ndjson');
    const times = { parse: [] as number[], write: [] as number[], import: [] as number[], export: [] as number[] };
    let lines: string[] = [];
    for (let pass = 0; pass <= runs; pass++) {
      note(`pass ${pass} of ${runs}${pass === 0 ? ', to warm up' : ''}`);
      const exported = await cpuSeconds(() => exportStore(store, file, () => {}));
      if (pass === 0) lines = readFileSync(file, 'utf8').trimEnd().split('\n');
      const copy = join(directory, `copy${pass}`);
      const imported = await importInto(copy, file);
      rmSync(copy, { recursive: true });
      let parsed: unknown[] = [];
      const parse = await cpuSeconds(() => (parsed = lines.map(line => JSON.parse(line))));
      const write = await cpuSeconds(() => parsed.map(value => JSON.stringify(value)).length);
      if (pass === 0) continue;
      times.export.push(exported);
      times.import.push(imported);
      times.parse.push(parse);
      times.write.push(write);
    }
    await store.close();
    const perSecond = (seconds: readonly number[]) => lines.length / median(seconds);
    const row = (name: string, ours: readonly number[], plain: readonly number[]) => {
      const [fast, reference] = [perSecond(ours), perSecond(plain)];
      return [name, fast.toFixed(0), reference.toFixed(0), ratio(fast / reference)];
    };
    return {
      header: [
        `${lines.length} lines, ${(statSync(file).size / 2 ** 20).toFixed(0)} MiB`,
        'lines/s of CPU',
        'JSON alone',
        'ratio',
      ],
      rows: [row('export', times.export, times.write), row('import', times.import, times.parse)],
      json: {
        lines: lines.length,
        exportLinesPerCpuSecond: Math.round(perSecond(times.export)),
        importLinesPerCpuSecond: Math.round(perSecond(times.import)),
      },
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

export const transfer: Workload = {
  name: 'transfer',
  summary: 'lines a second of processor time of export and import, beside plain JSON',
  run,
};
