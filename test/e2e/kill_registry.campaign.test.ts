/**
 * kill -9 of `tns load` and `tns refresh` at random moments: the registry is the former or the new one, never a mix, and its epoch is
 * correct. TEST_KILLS sets how many times each (2).
 */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { countRegistry } from '../../src/core/store/registry.ts';
import { openStore } from '../../src/core/store/store.ts';
import { BOT, FakeTns } from '../capabilities/names/fake_tns.ts';
import { csvOf, someRecords } from '../capabilities/names/support.ts';
import { assertOneOf, kills, type Registry, random } from './kill_support.ts';
import { send, start, withDirectory } from './support.ts';

const test = suite('e2e/kill_registry');
const OBJECTS = 20_000;
const HOUR_MS = 3_600_000;

async function assertNothingElse(dataDir: string): Promise<void> {
  const store = openStore(dataDir, 'read');
  const { tns_objects, tns_names } = store.databases;
  const keys = [tns_objects, tns_names].map(database => database.getKeysCount());
  assert.equal(keys, [countRegistry(store.databases), countRegistry(store.databases)]);
  await store.close();
}

type Variables = Record<string, string>;

async function runToEnd(args: readonly string[], variables: Variables = {}): Promise<number> {
  const began = performance.now();
  const { code, stderr } = await start(args, variables).finished;
  assert.is(code, 0, stderr);
  return performance.now() - began;
}

/** Kills a command at a random moment. Returns whether it was still running. */
async function kill(durationMs: number, args: readonly string[], variables: Variables = {}): Promise<boolean> {
  const { child, finished } = start(args, variables);
  // Most of the time goes by before the first commit.
  await Promise.race([finished, new Promise(resolve => setTimeout(resolve, durationMs * (0.3 + 0.8 * random())))]);
  send(child, 'SIGKILL');
  const { code, signal, stderr } = await finished;
  if (signal === null) assert.is(code, 0, stderr);
  return signal !== null;
}

/** Brings copies of a directory from one registry to another, killed on the way and then undisturbed. */
async function killOften(
  directory: string,
  [from, to]: readonly [Registry, Registry],
  argsOf: (dataDir: string) => readonly string[],
  variables: Variables = {},
): Promise<void> {
  const ready = join(directory, 'ready');
  const copy = (name: string) => {
    const data = join(directory, name);
    cpSync(ready, data, { recursive: true });
    return data;
  };
  const durationMs = await runToEnd(argsOf(copy('undisturbed')), variables);
  await assertOneOf(join(directory, 'undisturbed'), to);
  let killed = 0;
  for (let run = 0; killed < kills; run++) {
    const data = copy(`data${run}`);
    for (let times = 0; times < 3 && killed < kills; times++) {
      if (await kill(durationMs, argsOf(data), variables)) killed++;
      await assertOneOf(data, from, to);
    }
    await runToEnd(argsOf(data), variables);
    await assertOneOf(data, to);
    await assertNothingElse(data);
  }
}

const former = someRecords(500);
const whole = someRecords(OBJECTS).map(record => ({ ...record, ra: record.ra / 2 }));

test(`tns load, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const files = ['former.csv', 'whole.csv'].map(name => join(directory, name));
    writeFileSync(files[0]!, csvOf('2026-01-01 00:00:00', former));
    writeFileSync(files[1]!, csvOf('2026-02-10 00:00:00', whole));
    await runToEnd(['tns', 'load', files[0]!, '--data', join(directory, 'ready')]);
    const [from, to] = [
      { epochUs: Date.UTC(2026, 0, 1) * 1000, records: former },
      { epochUs: Date.UTC(2026, 1, 10) * 1000, records: whole },
    ];
    await killOften(directory, [from, to], data => ['tns', 'load', files[1]!, '--data', data]);
  }));

test(`tns refresh, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const tns = await FakeTns.start();
    try {
      const nowMs = Date.now();
      const midnightMs = nowMs - (nowMs % (24 * HOUR_MS));
      const text = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
      const file = join(directory, 'former.csv');
      writeFileSync(file, csvOf(text(midnightMs - 24 * HOUR_MS), former));
      await runToEnd(['tns', 'load', file, '--data', join(directory, 'ready')]);
      tns.put('', text(midnightMs), whole);
      const records = [...whole];
      let epochMs = midnightMs;
      for (let hour = 0; epochMs + HOUR_MS <= nowMs; hour++, epochMs += HOUR_MS) {
        records[hour] = { ...records[hour]!, name: `2026hour${hour}`, classification: 'SN II' };
        const line = `${text(epochMs)} - ${text(epochMs + HOUR_MS)}`;
        tns.put(String(hour).padStart(2, '0'), line, [records[hour]!]);
      }
      const variables = {
        TNS_OBJECTS_BASE_URL: tns.baseUrl,
        TNS_BOT_ID: String(BOT.id),
        TNS_BOT_NAME: BOT.name,
        TNS_BOT_API_KEY: BOT.apiKey,
      };
      const [from, to] = [
        { epochUs: (midnightMs - 24 * HOUR_MS) * 1000, records: former },
        { epochUs: epochMs * 1000, records },
      ];
      await killOften(directory, [from, to], data => ['tns', 'refresh', '--data', data], variables);
    } finally {
      await tns.close();
    }
  }));

test.run();
