/** The brokers' own messages: those of the sample, and all recorded ones that may be passed on. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { normaliserOf } from '../../../src/capabilities/ingest/brokers.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { root, sample } from '../../directory.ts';

const test = suite('ingest/recorded');
const published = join(root, 'test', 'fixtures', 'published');
const recorded = join(root, '../shared/data/antares/alert_properties_170055002004914266.json');

/** Where a broker's object begins in the raw text, and its keys of id and position. */
const KEYS = {
  antares: [/{/, 'lsst_diaObject_diaObjectId', 'lsst_diaObject_ra', 'lsst_diaObject_dec'],
  lasair: [/{/, 'diaObjectId', 'ra', 'decl'],
  pittgoogle: [/"diaObject\\?":/, 'diaObjectId', 'ra', 'dec'],
} as const;
type BrokerName = keyof typeof KEYS;

/** The id and position as they stand in the raw text. */
function inText(broker: BrokerName, message: string): string[] {
  const [start, ...keys] = KEYS[broker];
  const text = message.slice(message.search(start));
  return keys.map(key => new RegExp(`"${key}\\\\?":\\s*([^,}\\s]+)`).exec(text)![1]!);
}

/** The position error in the raw text, mas; undefined where a number is missing. */
function errorInText(keys: readonly [string, string], text: string): number | undefined {
  const [ra, dec] = keys.map(key => Number(new RegExp(`"${key}\\\\?":\\s*([\\d.e-]+)`).exec(text)?.[1]));
  const error = Math.sqrt((ra! ** 2 + dec! ** 2) / 2) * 3_600_000;
  return Number.isNaN(error) ? undefined : Number(error.toPrecision(4));
}

/** The keys of the errors; the messages of lasair in these files have none of the object. */
const ERROR_KEYS = {
  antares: ['lsst_diaObject_raErr', 'lsst_diaObject_decErr'],
  pittgoogle: ['raErr', 'decErr'],
} as const;
let withErrors = 0;

/** Reads every message of a file and compares what is delivered with its raw text. */
function readMessages(broker: BrokerName, messages: readonly string[]): Record<string, number> {
  const normalise = normaliserOf(broker, loadConfig().MIN_DIASOURCE_RELIABILITY);
  const counts: Record<string, number> = {};
  for (const message of messages) {
    const normalised = normalise(message, 5);
    counts[normalised.kind] = (counts[normalised.kind] ?? 0) + 1;
    if (normalised.kind !== 'delivery') continue;
    const { delivery } = normalised;
    const [id, ra, dec] = inText(broker, message);
    assert.is(String(delivery.diaObjectId), id);
    assert.ok(delivery.eventTimeUs > Date.UTC(2025, 0) * 1000 && delivery.eventTimeUs < Date.UTC(2027, 0) * 1000, id);
    if (delivery.position) assert.equal(delivery.position, { ra: Number(ra), dec: Number(dec) });
    else assert.is(dec, '-95.25', 'the one invalid position, which the sample has made');
    if (broker !== 'lasair' && delivery.position) {
      const text = message.slice(message.search(KEYS[broker][0]));
      assert.is(delivery.positionErrorMas, errorInText(ERROR_KEYS[broker], text), id);
      if (delivery.positionErrorMas) withErrors++;
    }
  }
  return counts;
}

function linesOf(file: string): string[] {
  const bytes = readFileSync(file);
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().trimEnd().split('\n');
}

test('the alerts of the sample', () => {
  const read = (broker: BrokerName) => readMessages(broker, linesOf(join(sample, 'alerts', `${broker}.ndjson`)));
  assert.equal(read('antares'), { delivery: 12, skipped: 1 });
  assert.equal(read('lasair'), { delivery: 84, rejected: 1 });
  assert.equal(read('pittgoogle'), { delivery: 5, below_cut: 3, skipped: 2 });
  assert.ok(withErrors > 5, `${withErrors}`);
});

test('every recorded message of lasair, NaN tokens and all', () => {
  const full = linesOf(join(published, 'lasair/kafka_messages_full_alert.ndjson.gz'));
  assert.is(full.filter(line => /[:,[] ?NaN/.test(line)).length, 75);
  assert.equal(readMessages('lasair', full), { delivery: 75 });
  assert.equal(readMessages('lasair', linesOf(join(published, 'lasair/kafka_messages_lightweight.ndjson'))), {
    delivery: 10,
  });
});

test('every alert of pittgoogle, with cutouts and without', () => {
  for (const name of ['lsst-alerts-json.reconstructed.7.jsonl.gz', 'lsst-alerts-json.reconstructed.small.jsonl']) {
    const messages = linesOf(join(published, 'pittgoogle', name));
    const counts = { delivery: 3, below_cut: 2, skipped: 2 };
    assert.equal(readMessages('pittgoogle', messages), counts);
    // Each alert by itself, without the envelope of Pub/Sub.
    assert.equal(
      readMessages(
        'pittgoogle',
        messages.map(message => JSON.parse(message).data),
      ),
      counts,
    );
  }
});

test('properties of antares, bare and inside an alert; recorded ones too where they are at hand, as they may not be passed on', () => {
  const lines = linesOf(join(sample, 'alerts/antares.ndjson'));
  const rebuilt = lines.filter(line => line.startsWith('{"nearsky_sample":'));
  const messages = existsSync(recorded) ? [...rebuilt, readFileSync(recorded, 'utf8')] : rebuilt;
  const bare = readMessages('antares', messages);
  assert.equal(bare, { delivery: messages.length });
  assert.ok(messages.length >= 7);
  assert.equal(
    readMessages(
      'antares',
      messages.map(message => `{"properties": ${message}}`),
    ),
    bare,
  );
});

test.run();
