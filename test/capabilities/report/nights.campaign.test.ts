/**
 * Nights of alerts with repetitions, damaged lines and truncated files, and a nightly script that is killed at random
 * moments. After each kill the report must count exactly the first lines that the database holds.
 * TEST_NIGHTS (2), TEST_ALERTS a night (3000), TEST_KILLS in all (3), TEST_SEED. The large run:
 * TEST_NIGHTS=5 TEST_ALERTS=200000 TEST_KILLS=50 npx node test/run.ts report/nights
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { constants, gunzipSync, gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NightReport } from '../../../src/capabilities/report/night_report.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { readDump } from '../../e2e/dump.ts';
import { catalogRows } from '../../e2e/expected.ts';
import { kills, random } from '../../e2e/kill_support.ts';
import { environment, nearsky, root, sample, start, withDirectory } from '../../e2e/support.ts';
import { runtimeArgs } from '../../runtime.ts';

const NIGHTS = Number(process.env.TEST_NIGHTS ?? 2);
const ALERTS = Number(process.env.TEST_ALERTS ?? 3000);
const BROKERS = ['lasair', 'pittgoogle'] as const;
type Broker = (typeof BROKERS)[number];

const test = suite('report/nights');
const int = (below: number) => Math.floor(below * random());
const PROGRAM = [...runtimeArgs, join(import.meta.dirname, 'fixtures/later_main.ts')];

/** The outcome of a line, apart from whether its object is new. */
type Line = { readonly text: string; readonly is: bigint | 'below_cut' | 'skipped' | 'not JSON' | 'no id' };

/** By name, as the report has them. */
type Counts = Record<string, number>;

/** Counts lines on its own, without the code of nearsky. */
class Model {
  readonly brokersOf = new Map<bigint, Set<Broker>>();
  readonly nights = new Map<string, Record<Broker, Counts>>();

  counts(night: string): Record<Broker, Counts> {
    const counts = this.nights.get(night) ?? { lasair: {}, pittgoogle: {} };
    this.nights.set(night, counts);
    return counts;
  }

  take({ is }: Line, broker: Broker, night: string): void {
    const counts = this.counts(night)[broker];
    const add = (name: string) => {
      counts[name] = (counts[name] ?? 0) + 1;
    };
    add('messages');
    if (is === 'not JSON' || is === 'no id') {
      add('rejected');
      add(`reason ${is === 'no id' ? 'diaObjectId must be an integer from 1 to 9223372036854775807' : is}`);
      return;
    }
    if (typeof is === 'string') {
      add(is);
      return;
    }
    const brokers = this.brokersOf.get(is);
    add(brokers === undefined ? 'stored' : brokers.has(broker) ? 'duplicate' : 'further_broker');
    this.brokersOf.set(is, (brokers ?? new Set()).add(broker));
  }
}

/** The counts of a report in the form of the model's. */
function countsIn({ brokers }: NightReport, broker: Broker): Counts {
  const { rejected_by_reason = {}, rejects_files: _, without_position, ...counts } = brokers[broker] ?? {};
  assert.is(without_position ?? 0, 0);
  const reasons = Object.entries(rejected_by_reason).map(([reason, count]) => [`reason ${reason}`, count] as const);
  return Object.fromEntries([...Object.entries(counts as Counts), ...reasons].filter(([, count]) => count > 0));
}

/** A directory of files as brokers leave them, and the script that takes them in, each night one day later. */
class Nights {
  readonly #directory: string;
  readonly #positions: { ra: number; dec: number }[];
  readonly model = new Model();
  #objects = 0;
  #night = 0;

  constructor(directory: string, positions: { ra: number; dec: number }[]) {
    this.#directory = directory;
    this.#positions = positions;
    mkdirSync(join(directory, 'bin'));
    const command = [process.execPath, ...PROGRAM].map(word => `'${word}'`).join(' ');
    writeFileSync(join(directory, 'bin/nearsky'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
    for (const broker of BROKERS) mkdirSync(join(directory, broker));
  }

  get data(): string {
    return join(this.#directory, 'data');
  }

  get environment(): Record<string, string> {
    const PATH = `${join(this.#directory, 'bin')}:${process.env.PATH}`;
    return { ...environment, PATH, LATER_DAYS: `${this.#night}`, NEARSKY_DATA: this.data } as Record<string, string>;
  }

  #line(broker: Broker): Line {
    const chance = random();
    if (chance < 0.02) return { text: '{"diaObjectId": 5, "ra', is: 'not JSON' };
    // A third of the messages are about known objects.
    const known = chance < 0.35 && this.#objects > 0;
    const number = known ? int(this.#objects) : this.#objects++;
    const id = 9_200_000_000_000_000_000n + BigInt(number);
    const { ra, dec } = this.#positions[number % this.#positions.length]!;
    if (broker === 'lasair') {
      if (chance > 0.99) return { text: `{"ra": ${ra}, "decl": ${dec}}`, is: 'no id' };
      return { text: `{"diaObjectId": ${id}, "ra": ${ra}, "decl": ${dec}}`, is: id };
    }
    const object = chance > 0.99 ? 'null' : `{"diaObjectId": ${id}, "ra": ${ra}, "dec": ${dec}}`;
    const isBelow = chance > 0.95 && chance < 0.99;
    const text = `{"diaSource": {"reliability": ${isBelow ? 0 : 1}}, "diaObject": ${object}}`;
    return { text, is: chance > 0.99 ? 'skipped' : isBelow ? 'below_cut' : id };
  }

  /** Writes the files of a night: two whole ones, and for one broker a truncated one. Returns the lines in the order of the script. */
  arrive(broker: Broker): Line[] {
    const directory = join(this.#directory, broker);
    const lines = (count: number) => Array.from({ length: count }, () => this.#line(broker));
    const textOf = (some: readonly Line[]) => `${some.map(({ text }) => text).join('\n')}\n`;
    const [plain, packed] = [lines(ALERTS / 4), lines(ALERTS / 4)];
    writeFileSync(join(directory, `${this.#night}.ndjson`), textOf(plain));
    writeFileSync(join(directory, `${this.#night}.ndjson.gz`), gzipSync(textOf(packed)));
    if (broker === 'pittgoogle') return [...plain, ...packed];
    const cut = lines(ALERTS / 4);
    const whole = gzipSync(textOf(cut));
    const bytes = whole.subarray(0, Math.floor(whole.length / 2));
    writeFileSync(join(directory, `${this.#night}_truncated.ndjson.gz`), bytes);
    const readable = gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).toString().split('\n').length - 1;
    return [...plain, ...packed, ...cut.slice(0, readable)];
  }

  /**
   * Runs the script of a broker, and kills it after some time; without a time it runs to its end.
   * @returns its exit status, null if it was killed
   */
  async script(broker: Broker, killAfterMs?: number): Promise<number | null> {
    const args = [join(root, 'deploy/nightly.sh'), 'ingest', broker, join(this.#directory, broker)];
    const child = spawn('sh', args, { env: this.environment, stdio: 'ignore', detached: true });
    const ended = new Promise<number | null>(resolve => child.on('close', code => resolve(code)));
    const isOver = ended.then(() => true);
    if (killAfterMs !== undefined && !(await Promise.race([isOver, sleep(killAfterMs, false)])))
      process.kill(-child.pid!, 'SIGKILL');
    return ended;
  }

  async report(night: string): Promise<NightReport> {
    const { stdout, stderr } = await start(['report', '--json', '--night', night, '--data', this.data]).finished;
    assert.is(stderr, '');
    return JSON.parse(stdout);
  }

  /** Adds the counted lines to the model, and compares both. Returns the number of lines. */
  async #settle(broker: Broker, lines: readonly Line[], night: string): Promise<number> {
    if (!readdirSync(this.#directory).includes('data')) return 0;
    const found = countsIn(await this.report(night), broker);
    const counted = (found.messages ?? 0) - (this.model.counts(night)[broker].messages ?? 0);
    assert.ok(counted <= lines.length, `${counted} counted, of ${lines.length} lines`);
    for (const line of lines.slice(0, counted)) this.model.take(line, broker, night);
    assert.equal(found, this.model.counts(night)[broker], broker);
    const { objects } = await nearsky('stats', '--data', this.data);
    assert.is(objects, this.model.brokersOf.size);
    return counted;
  }

  /** @returns the number of times that a script was killed before its end */
  async pass(night: string, killed: number): Promise<number> {
    let done = 0;
    for (const broker of BROKERS) {
      const lines = this.arrive(broker);
      // Files that an earlier run has moved away are not read again.
      const left = () => {
        const names = readdirSync(join(this.#directory, broker));
        const isThere = (end: string) => names.includes(`${this.#night}${end}`);
        const part = ALERTS / 4;
        return [
          ...(isThere('.ndjson') ? lines.slice(0, part) : []),
          ...(isThere('.ndjson.gz') ? lines.slice(part, 2 * part) : []),
          ...lines.slice(2 * part),
        ];
      };
      while (done < (killed * (1 + BROKERS.indexOf(broker))) / BROKERS.length) {
        const coming = left();
        if ((await this.script(broker, 200 + int(this.#scriptMs))) === null) done++;
        await this.#settle(broker, coming, night);
        // Only the truncated file is left.
        if (coming.length === lines.length - ALERTS / 2) break;
      }
      const coming = left();
      const beganMs = performance.now();
      assert.is(await this.script(broker), broker === 'lasair' ? 1 : 0);
      this.#scriptMs = performance.now() - beganMs;
      const counted = await this.#settle(broker, coming, night);
      assert.ok(counted >= coming.length, `${counted} counted, of ${coming.length} lines`);
    }
    // A truncated file would be read again each night.
    rmSync(join(this.#directory, 'lasair', `${this.#night}_truncated.ndjson.gz`));
    return done;
  }

  #scriptMs = 2000;

  async crossmatch(): Promise<void> {
    const child = spawn(process.execPath, [...PROGRAM, 'crossmatch'], { env: this.environment, stdio: 'ignore' });
    const ended = new Promise(resolve => child.on('close', resolve));
    if (random() < 0.5) {
      await Promise.race([ended, sleep(int(3000))]);
      if (child.exitCode === null) process.kill(child.pid!, 'SIGKILL');
      await ended;
      return this.crossmatch();
    }
    assert.is(await ended, 0);
  }

  next(): void {
    this.#night++;
  }
}

/** The night of a time, counted in another way than nearsky does. */
function dateInChile(timeUs: number): string {
  const at = new Date(timeUs / 1000);
  at.setUTCHours(at.getUTCHours() - 12);
  return at.toISOString().slice(0, 10);
}

test(`${NIGHTS} nights of ${ALERTS} alerts, ${kills} kills`, () =>
  withDirectory(async directory => {
    const rows = (await catalogRows('gaia_dr3')) as { ra: number; dec: number }[];
    const nights = new Nights(directory, rows);
    const { data, model } = nights;
    for (const name of ['gaia_dr3', 'skymapper_dr4'])
      await nearsky('catalog', 'add', name, join(sample, 'catalogs', name), '--data', data);
    const names: string[] = [];
    let killed = 0;
    for (let i = 0; i < NIGHTS; i++) {
      const night = dateInChile((Date.now() + 86_400_000 * i) * 1000);
      names.push(night);
      killed += await nights.pass(night, kills / NIGHTS);
      await nights.crossmatch();
      const { errors, needs_person } = await nights.report(night);
      assert.ok(errors['ingest lasair']!.count >= 1);
      assert.match(needs_person[0]!, /^ingest lasair: .*unexpected end of file/);
      nights.next();
    }
    assert.ok(killed >= Math.min(kills, 1), `${killed} kills before the end of a script`);

    // The objects themselves say how many were stored and crossmatched in each night, and by whom.
    const { objects, pending } = await readDump(data);
    assert.is(pending.size, 0);
    assert.equal([...objects.keys()].sort(), [...model.brokersOf.keys()].map(String).sort());
    const counts = new Map<string, Counts>(names.map(name => [name, {}]));
    const store = openStore(data, 'read');
    for (const { diaObjectId, ingestTimeUs, records, matches, brokers } of store.objects()) {
      const add = (timeUs: number, name: string) => {
        const ofNight = counts.get(dateInChile(timeUs))!;
        ofNight[name] = (ofNight[name] ?? 0) + 1;
      };
      assert.equal(brokers, [...model.brokersOf.get(diaObjectId)!].sort());
      add(ingestTimeUs, 'stored');
      for (const { crossmatchedAtUs, catalogOutcomes } of records)
        for (const [catalog, outcome] of catalogOutcomes) add(crossmatchedAtUs, `${catalog} ${outcome}`);
      for (const { catalogName, matchVersion } of matches)
        add(records.find(record => record.matchVersion === matchVersion)!.crossmatchedAtUs, `${catalogName} matches`);
    }
    await store.close();
    for (const night of names) {
      const { brokers, catalogs } = await nights.report(night);
      const found: Counts = { stored: Object.values(brokers).reduce((sum, { stored }) => sum + stored, 0) };
      for (const [catalog, { matches, outcomes }] of Object.entries(catalogs)) {
        if (matches > 0) found[`${catalog} matches`] = matches;
        for (const [outcome, count] of Object.entries(outcomes)) found[`${catalog} ${outcome}`] = count;
      }
      assert.equal(found, counts.get(night));
    }
    // Rejected messages are in the files that the report names. A killed run may have written some before they were
    // counted.
    const { brokers } = await nights.report(names[0]!);
    const { rejected, rejects_files } = brokers.lasair!;
    const kept = rejects_files.flatMap(file => readFileSync(file, 'utf8').trimEnd().split('\n'));
    assert.ok(kept.length >= rejected, `${kept.length} kept, ${rejected} counted`);
  }));

test.run();
