/** Files of messages into a store: every line that is read is counted, once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ingestFile } from '../../../src/capabilities/ingest/files.ts';
import { Ingester } from '../../../src/capabilities/ingest/ingester.ts';
import { RejectLog } from '../../../src/capabilities/ingest/rejects.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import type { Running, Target } from '../target.ts';

/** Lines that are not blank, as any reader of lines counts them. */
export function linesOf(input: Buffer): number {
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = input.indexOf(10); end !== -1; end = input.indexOf(10, start)) {
    lines.push(input.subarray(start, end));
    start = end + 1;
  }
  lines.push(input.subarray(start));
  return lines.filter(
    line =>
      line
        .toString()
        .replace(/^\uFEFF/, '')
        .trim() !== '',
  ).length;
}

/** Use a new directory after this many inputs: growing stores are slow, and full ones hide new effects. */
const RENEW_AFTER = 200;

export async function withStore(read: (input: Buffer, place: Place) => Promise<void>): Promise<Running> {
  let place: Place | undefined;
  let runs = 0;
  const close = async () => {
    await place?.store.close();
    if (place) rmSync(place.directory, { recursive: true });
    place = undefined;
  };
  return {
    run: async input => {
      if (runs++ % RENEW_AFTER === 0) await close();
      place ??= newPlace();
      writeFileSync(place.file, input);
      await read(input, place);
    },
    close,
  };
}

type Place = ReturnType<typeof newPlace>;

function newPlace() {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-fuzz-'));
  const store = openStore(directory, 'write');
  const config = { ...loadConfig(), NEARSKY_DATA: directory };
  return { directory, store, writer: new Writer(store), config, file: join(directory, 'input') };
}

const messages: Target = {
  name: 'ingest',
  isText: true,
  inputs: 800,
  start: () =>
    withStore(async (input, { writer, config, file }) => {
      if (input[0] === 0x1f) return;
      const rejects = new RejectLog(config, 'lasair');
      const ingester = new Ingester(writer, rejects);
      try {
        await ingestFile(file, { broker: 'lasair', config, ingester });
      } finally {
        rejects.close();
      }
      // Neither is an outcome of a message.
      const { read, without_position: _, without_event_time: __, blank_lines: ___, ...outcomes } = ingester.counts;
      const sum = Object.values(outcomes).reduce((total, count) => total + count, 0);
      if (read !== sum || read !== linesOf(input))
        throw new Error(`${read} read of ${linesOf(input)} lines: ${JSON.stringify(outcomes)}`);
    }),
};

export const targets: readonly Target[] = [messages];
