/**
 * Export and import of a store like that after a night, in lines per second of processor time, compared with plain JSON
 * of the same lines.
 */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fill, OBJECTS } from '../../../bench/filled_store.ts';
import { median, type Options, ratio, type Workload } from '../../../bench/report.ts';
import { RejectLog } from '../../../src/capabilities/ingest/rejects.ts';
import { exportStore } from '../../../src/capabilities/transfer/exporter.ts';
import { Importer } from '../../../src/capabilities/transfer/importer.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';

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

export const workload: Workload = {
  name: 'transfer',
  summary: 'lines a second of processor time of export and import, beside plain JSON',
  run,
};
