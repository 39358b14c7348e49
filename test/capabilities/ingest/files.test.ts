/** Files that are read by threads: the stored data equal those of reading line by line. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { normaliserOf } from '../../../src/capabilities/ingest/brokers.ts';
import { ingestFile } from '../../../src/capabilities/ingest/files.ts';
import { Ingester } from '../../../src/capabilities/ingest/ingester.ts';
import { RejectLog } from '../../../src/capabilities/ingest/rejects.ts';
import { messageOf } from '../../../src/core/base/error_text.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { packDeliveries, unpackDeliveries } from '../../../src/core/store/packed_deliveries.ts';
import { openStore } from '../../../src/core/store/store.ts';
import type { Delivery } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { seededRandom } from '../../oracle/skies.ts';

const test = suite('ingest/files');

/** Alerts with a history of `bytes` each; ids come again, with other values, and some are not stored for each of the reasons. */
function alerts(count: number, bytes: number): string[] {
  const random = seededRandom(7);
  const history = JSON.stringify('x'.repeat(bytes));
  return Array.from({ length: count }, (_, i) => {
    const id = 170_000_000_000_000_001n + BigInt(Math.floor((count / 2) * random()));
    const object = `{"diaObjectId": ${id}, "ra": ${360 * random()}, "dec": ${i % 11 === 0 ? 95 : 180 * random() - 90}}`;
    const source = `{"reliability": ${i % 7 === 0 ? 0.3 : 0.6 + 0.4 * random()}, "midpointMjdTai": ${61000 + random()}}`;
    if (i % 13 === 0) return `{"history": ${history}, "diaObject": null, "diaSource": ${source}}`;
    if (i % 17 === 0) return `{"history": ${history}, "diaObject": {"diaObjectId": ${id}.5}, "diaSource": ${source}}`;
    if (i % 19 === 0) return `{"history": ${history}, "diaObject": ${object}`;
    return `{"history": ${history}, "diaObject": ${object}, "diaSource": ${source}}`;
  });
}

interface Kept {
  readonly deliveries: Map<bigint, Delivery>;
  readonly counts: Record<string, number>;
  readonly rejects: { line: number; reason: string }[];
}

function readOneByOne(lines: readonly string[]): Kept {
  const normalise = normaliserOf('pittgoogle', 0.6);
  const deliveries = new Map<bigint, Delivery>();
  const none = { further_broker: 0, without_position: 0, without_event_time: 0, blank_lines: 0 };
  const counts: Record<string, number> = { read: lines.length, ...none };
  const rejects: Kept['rejects'] = [];
  const count = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (const [i, text] of lines.entries()) {
    const normalised = normalise(text, 1);
    if (normalised.kind === 'rejected') rejects.push({ line: i + 1, reason: normalised.reason });
    if (normalised.kind !== 'delivery') {
      count(normalised.kind);
      continue;
    }
    const { delivery } = normalised;
    if (!delivery.position) count('without_position');
    if (normalised.isReceiptTime) count('without_event_time');
    const isKnown = deliveries.has(delivery.diaObjectId);
    count(isKnown ? 'duplicate' : 'stored');
    if (!isKnown) deliveries.set(delivery.diaObjectId, delivery);
  }
  return { deliveries, counts, rejects };
}

async function ingest(data: string, file: string) {
  const config = loadConfig({ options: new Map([['NEARSKY_DATA', data]]) });
  const store = openStore(data, 'write');
  const rejects = new RejectLog(config, 'pittgoogle');
  const ingester = new Ingester(new Writer(store), rejects);
  const reading = ingestFile(file, { broker: 'pittgoogle', config, ingester });
  const error = await reading.then(() => undefined, messageOf);
  const objects = [...store.objects()];
  rejects.close();
  await store.close();
  return { counts: ingester.counts, objects, rejectsFile: rejects.path, error };
}

// Below and above the size from which threads do the work.
for (const [name, count, bytes] of [
  ['on the main thread', 400, 100],
  ['on threads', 1500, 10_000],
] as const)
  test(`${name}: counts, rejects and values are those of a reading line by line`, () =>
    withDirectory(async directory => {
      const lines = alerts(count, bytes);
      const file = join(directory, 'alerts.ndjson');
      writeFileSync(file, `${lines.join('\n')}\n\n \n`);
      const { counts, objects, rejectsFile } = await ingest(join(directory, 'data'), file);
      const expected = readOneByOne(lines);
      assert.ok(counts.without_position > 10);
      assert.equal({ ...counts }, { ...expected.counts, blank_lines: 2 });
      const stored = objects.map(({ diaObjectId, position, reliability, eventTimeUs }) => {
        return { diaObjectId, position, reliability, eventTimeUs, broker: 'pittgoogle' };
      });
      const wanted = [...expected.deliveries.values()].sort((a, b) => (a.diaObjectId < b.diaObjectId ? -1 : 1));
      assert.equal(stored, wanted);
      const kept = readFileSync(rejectsFile!, 'utf8').trimEnd().split('\n');
      const rejects = kept.map(line => JSON.parse(line));
      assert.equal(
        rejects.map(({ line, reason }) => ({ line, reason })),
        expected.rejects,
      );
      assert.ok(rejects.every(({ file: from, message }) => from === file && message.startsWith('{"history": "xxx')));
    }));

test('what stands before a line that ends the reading is stored, also of what threads have in hand', () =>
  withDirectory(async directory => {
    const lines = alerts(1500, 10_000);
    const file = join(directory, 'alerts.gz');
    // Stored without compression, so that the cut falls between the lines.
    writeFileSync(file, gzipSync(lines.join('\n'), { level: 0 }).subarray(0, -1_000_000));
    const { counts, error } = await ingest(join(directory, 'data'), file);
    assert.match(error ?? '', /alerts\.gz because unexpected end of file/);
    assert.ok(counts.read > 1300 && counts.read < 1500, `${counts.read}`);
    const { deliveries } = readOneByOne(lines.slice(0, counts.read));
    assert.is(counts.stored, deliveries.size);
  }));

test('deliveries are the same packed and unpacked', () => {
  const deliveries: Delivery[] = [
    { diaObjectId: 2n ** 63n - 1n, position: { ra: 0, dec: -90 }, reliability: 0, eventTimeUs: 0, broker: 'lasair' },
    { diaObjectId: 0n, position: null, reliability: null, eventTimeUs: 2 ** 53 - 1, broker: 'lasair' },
    { diaObjectId: 5n, position: { ra: 360, dec: 1e-300 }, reliability: null, eventTimeUs: 7, broker: 'lasair' },
    { diaObjectId: 6n, position: null, reliability: 0.1 + 0.2, eventTimeUs: 8, broker: 'lasair' },
  ];
  for (let count = 0; count <= deliveries.length; count++)
    assert.equal(unpackDeliveries(packDeliveries(deliveries.slice(0, count)), 'lasair'), deliveries.slice(0, count));
});

test.run();
