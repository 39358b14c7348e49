/** Streams that follow areas: processor time of a thread for 10,000 objects a second, with 0, 1 and 100 areas. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { areaOfShape, circle } from '@nearsky/sky-index/areas';
import { median, type Options, type Workload } from '../../../bench/report.ts';
import { EventStreams } from '../../../src/capabilities/streams/event_streams.ts';
import type { FollowedArea } from '../../../src/capabilities/streams/followed_areas.ts';
import { eventSelection, positionAfter } from '../../../src/capabilities/streams/stream_events.ts';
import { SETTINGS } from '../../../src/capabilities.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { SharedState } from '../../../src/core/base/shared_state.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { ThreadMetrics } from '../../../src/core/metrics/thread_metrics.ts';
import type { Coordination } from '../../../src/core/service/coordination.ts';
import { answerSettings } from '../../../src/core/store/provenance.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, provenance } from '../../core/store/support.ts';
import { anywhere, seededRandom } from '../../oracle/skies.ts';
import { crossmatch, FIRST_ID } from './support.ts';

const OBJECTS = 20_000;
const OBJECTS_A_COMMIT = 500;
/** Degrees: an area of 1257 square degrees, as of a poorly localised event. */
const RADIUS = 20;

async function run({ runs }: Options, note: (text: string) => void) {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-bench-'));
  try {
    note(`storing ${OBJECTS} objects, each with one match`);
    const store = openStore(directory, 'write');
    const writer = new Writer(store);
    const random = seededRandom(1);
    for (let from = 0; from < OBJECTS; from += OBJECTS_A_COMMIT) {
      const ids = Array.from({ length: OBJECTS_A_COMMIT }, (_, i) => FIRST_ID + BigInt(from + i));
      const deliveries = ids.map(id => delivery(id, { position: anywhere(random) }));
      await writer.ingest(deliveries, 1);
      await writer.recordCrossmatches(
        ids.map(id => crossmatch(id, 1)),
        provenance,
        1,
      );
    }
    const rows: string[][] = [];
    const json: Record<string, number> = {};
    const cases: [name: string, readers: number, areas: number][] = [
      ['one stream of all matches', 1, 0],
      ['and one in an area', 1, 1],
      ['and 100, each in an area of its own', 1, 100],
      ['and 100, all in one area', 1, -100],
      ['101 streams of all matches', 101, 0],
    ];
    for (const [name, all, areas] of cases) {
      const seconds: number[] = [];
      let events = 0;
      for (let pass = 0; pass <= runs; pass++) {
        const used = await readAll(store, all, areas);
        events = used.events;
        if (pass > 0) seconds.push(used.cpuSeconds);
      }
      const share = (100 * median(seconds) * 10_000) / OBJECTS;
      rows.push([name, `${share.toFixed(1)} %`, `${events} events sent`]);
      json[name] = share;
    }
    await store.close();
    return { header: ['streams, of 10,000 objects a second', 'of one core', ''], rows, json };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Reads the journal from its beginning in this number of streams, as fast as possible. */
async function readAll(store: ReturnType<typeof openStore>, all: number, areas: number) {
  const random = seededRandom(2);
  const fragments = new SharedFragments(answerSettings(loadConfig()));
  let events = 0;
  const coordination = {
    state: new SharedState(),
    generation: { sequence: store.lastSequence() },
    onGeneration: () => {},
  };
  const streams = new EventStreams({
    config: loadConfig({}, SETTINGS),
    coordination: coordination as unknown as Coordination,
    store: () => store,
    fragments: () => fragments,
    metrics: new ThreadMetrics(),
    count: (_, change = 1) => {
      events += change;
    },
    log: () => {},
    quietMs: 50,
  });
  const selections = [
    ...Array.from({ length: all }, () => undefined),
    ...Array.from({ length: Math.abs(areas) }, (_, i) => {
      const { ra, dec } = anywhere(random);
      return eventSelection(null, areaAround(areas > 0 ? `${i}` : 'one', ra, dec));
    }),
  ];
  const begun = process.cpuUsage();
  const end = `id: ${store.lastSequence()}\n`;
  await Promise.all(
    selections.map(selection => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const stream = streams.open('matches', positionAfter('0')!, selection, 'bench');
      stream.begin({
        write: bytes => {
          if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(end)) resolve();
          else setImmediate(() => stream.written());
        },
        end: resolve,
        fail: resolve,
      });
      return promise;
    }),
  );
  const { user, system } = process.cpuUsage(begun);
  streams.close();
  return { cpuSeconds: (user + system) / 1e6, events };
}

function areaAround(digest: string, ra: number, dec: number): FollowedArea {
  const steps = areaOfShape(circle(ra, dec, 3600 * RADIUS));
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return { digest, region: step.value };
}

export const workload: Workload = {
  name: 'stream-areas',
  summary: 'streams that follow areas: processor time with 0, 1 and 100 of them',
  onlyByName: true,
  run,
};
