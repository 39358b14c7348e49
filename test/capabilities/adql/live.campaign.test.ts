/**
 * Tables that follow the journal while objects are ingested, crossmatched, crossmatched again and removed, catalogs are
 * registered, and the engine and the service are killed: each answer is of the entry that it names, in all its tables, and at rest all
 * rows are those of an export. A longer run, as for docs/performance.md:
 *
 *   TAP_ANSWERS=1000 TAP_ALERTS=1000 node test/capabilities/adql/live.campaign.test.ts
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { currentMatches } from '../../../src/core/store/current_matches.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, eventually, match, PROVENANCE, searched } from '../../core/http/support.ts';
import { nearsky, type Server, sample, send, startServer, withDirectory } from '../../e2e/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { answerOf, closed } from './support.ts';

const test = suite('tap: live');
const obstacle =
  duckdbObstacle() ?? (process.platform === 'linux' ? undefined : 'the process of the engine is found on Linux');
const check = needs(test, obstacle);

const ANSWERS = Number(process.env.TAP_ANSWERS ?? 40);
/** Alerts per second. */
const ALERTS = Number(process.env.TAP_ALERTS ?? 300);
/** The number of answers after which one event happens; after as many again, another one. */
const BETWEEN = 10;
const PAUSE_MS = 100;
const CATALOG = 'gaia_dr3';
const TABLES = ['objects', 'matches', 'crossmatches', 'tns', `${CATALOG}_matches`];

const QUERY = [
  "SELECT 'objects' AS source, COUNT(*) AS n, SUM(matches) AS total FROM objects",
  "SELECT 'matches', COUNT(*), SUM(match_version) FROM matches",
  "SELECT 'crossmatches', COUNT(*), SUM(match_version) FROM crossmatches",
  `SELECT '${CATALOG}', COUNT(*), SUM(match_version) FROM ${CATALOG}_matches`,
  "SELECT 'joined', COUNT(*), SUM(m.match_version) FROM objects AS o JOIN matches AS m ON o.diaObjectId = m.diaObjectId",
].join(' UNION ALL ');

/** What the query counts, for one object or for all: how many and the total of objects, matches and crossmatches. */
type Tally = [number, number, number, number, number, number];

function tallyOf(store: Store, id: bigint): Tally {
  const object = store.getObject(id);
  if (!object) return [0, 0, 0, 0, 0, 0];
  const { records, state } = object;
  const current = records.at(-1);
  const outcomes = current?.catalogOutcomes.length ?? 0;
  const newest = state === 'pending' ? [] : currentMatches(object);
  const versions = newest.reduce((sum, { match }) => sum + match.matchVersion, 0);
  return [1, newest.length, newest.length, versions, outcomes, outcomes * (current?.matchVersion ?? 0)];
}

function rowsOf([objects, newest, matches, versions, outcomes, ofOutcomes]: Tally): string {
  const total = (sum: number, count: number) => (count === 0 ? '' : sum);
  const found = `${matches},${total(versions, matches)}`;
  return [
    `objects,${objects},${total(newest, objects)}`,
    `crossmatches,${outcomes},${total(ofOutcomes, outcomes)}`,
    ...['matches', CATALOG, 'joined'].map(name => `${name},${found}`),
  ]
    .sort()
    .join('\n');
}

/** Ingests, crossmatches, crossmatches again and removes, ten times a second. Ids count from 1; removed ones may come again. */
class Changes {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #random = seededRandom(36);
  readonly #tallies: Tally[] = [];
  readonly #all: Tally = [0, 0, 0, 0, 0, 0];
  #crossmatched = 0;
  #timeUs = Date.now() * 1000;
  #source = 0;
  #isPaused = false;
  #changing: Promise<void> = Promise.resolve();
  /** What was stored at each entry of the journal, and when. */
  readonly states = new Map<number, { readonly rows: string; readonly atMs: number }>();

  constructor(store: Store) {
    this.#store = store;
    this.#writer = new Writer(store);
  }

  get last(): number {
    return this.#store.lastSequence();
  }

  #note(ids: readonly bigint[]): void {
    for (const id of ids) {
      const before = this.#tallies[Number(id)];
      const now = tallyOf(this.#store, id);
      for (const i of now.keys()) this.#all[i]! += now[i]! - (before?.[i] ?? 0);
      this.#tallies[Number(id)] = now;
    }
    this.states.set(this.last, { rows: rowsOf(this.#all), atMs: Date.now() });
  }

  async change(): Promise<void> {
    const random = this.#random;
    const known = Math.max(0, this.#tallies.length - 1);
    const anyOf = (count: number, below: number) =>
      below === 0
        ? []
        : [...new Set(Array.from({ length: count }, () => 1 + Math.floor(random() * below)))].map(BigInt);
    this.#timeUs += 100_000;
    const fresh = Array.from({ length: Math.ceil(ALERTS / 15) }, (_, i) => {
      const position = random() < 0.05 ? null : { ra: 360 * random(), dec: 180 * random() - 90 };
      return delivery(BigInt(known + 1 + i), { position });
    });
    const again = anyOf(ALERTS / 30, known).map(id => delivery(id, { broker: random() < 0.5 ? 'lasair' : 'fink' }));
    await this.#writer.ingest([...fresh, ...again], this.#timeUs);
    this.#note([...fresh, ...again].map(({ diaObjectId }) => diaObjectId));
    const pending = Array.from({ length: known - this.#crossmatched }, (_, i) => BigInt(this.#crossmatched + 1 + i));
    this.#crossmatched = known;
    await this.#crossmatch(pending, 1, false);
    await this.#crossmatch(anyOf(ALERTS / 100, known), 1 + Math.floor(3 * random()), true);
    const wrong = anyOf(ALERTS / 100, known);
    await this.#writer.remove(wrong, 'wrong', random() < 0.5 ? 'fink' : undefined);
    this.#note(wrong);
  }

  async #crossmatch(ids: readonly bigint[], radius: number, isAgain: boolean): Promise<void> {
    if (ids.length === 0) return;
    const results = ids.map(diaObjectId => ({
      diaObjectId,
      catalogOutcomes: searched(CATALOG),
      matches: this.#random() < 0.6 ? [match(CATALOG, `${++this.#source}`)] : [],
    }));
    const provenance = { ...PROVENANCE, crossmatch_radius_arcsec: radius };
    await this.#writer.recordCrossmatches(results, provenance, this.#timeUs, isAgain);
    this.#note(ids);
  }

  /** Resolves when the change that runs has ended; there is no other until `resume`. */
  async pause(): Promise<void> {
    this.#isPaused = true;
    await this.#changing;
  }

  resume(): void {
    this.#isPaused = false;
  }

  /** Continues until the signal; it is never more than one change behind. */
  async run(ends: AbortSignal): Promise<void> {
    for (let next = performance.now(); !ends.aborted; ) {
      if (!this.#isPaused) await (this.#changing = this.change());
      const nowMs = performance.now();
      next = Math.max(next + 100, nowMs);
      await sleep(next - nowMs);
    }
  }
}

async function ask({ url, finished }: Server, query: string, format = 'csv'): Promise<Response> {
  const body = new URLSearchParams({ LANG: 'ADQL', QUERY: query, RESPONSEFORMAT: format });
  try {
    return await fetch(`${url}/vo/tap/sync`, { method: 'POST', body });
  } catch (error) {
    const ended = await Promise.race([finished, sleep(1000)]);
    throw new Error(`${error}: ${(error as Error).cause}; the service ${ended ? ended.stderr : 'goes on'}`);
  }
}

const linesOf = (text: string) => text.trimEnd().split(/\r?\n/).slice(1).sort();
const entryOf = ({ headers }: Response) => Number(headers.get('X-Journal-Entry'));

/** The process of the engine, a child of the service. */
function engineOf({ child }: Server): number {
  const script = `for status in $(grep -l "^PPid:[[:space:]]${child.pid}$" /proc/[0-9]*/status 2>/dev/null); do
    process=$(dirname $status); grep -q src/capabilities/adql/[e]ngine_process $process/cmdline && echo $(basename $process); done`;
  const pid = Number(spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout);
  assert.ok(pid > 0);
  return pid;
}

/** The processor time of a process and of its children that have ended, seconds. (Deno keeps /proc from the program.) */
function processorSeconds(pid: number): number {
  const { stdout } = spawnSync('cat', [`/proc/${pid}/stat`], { encoding: 'utf8' });
  const fields = stdout.split(') ')[1]!.split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

const sizeOf = (path: string) =>
  existsSync(path) ? Number(spawnSync('du', ['-sk', path], { encoding: 'utf8' }).stdout.split('\t')[0]) : 0;

/** All rows are those of an export of the same entry, which another engine reads. */
async function assertExported(server: Server, dataDir: string, last: number): Promise<void> {
  // The engine of a killed service may end late. The other engine would take over its tables instead of an export.
  const tap = join(dataDir, 'tap');
  for (const pid of readdirSync(tap))
    if (!existsSync(`/proc/${pid}`)) rmSync(join(tap, pid), { recursive: true, force: true });
  const engine = await Engine.open({
    dataDir,
    memoryMib: 512,
    threads: 1,
    refreshSeconds: 3600,
    mergeAfter: 0,
    earlierStates: 0,
  });
  try {
    for (const table of TABLES)
      for (let part = 0; part < 8; part++) {
        const query = `SELECT * FROM ${table} WHERE MOD(diaObjectId, 8) = ${part}`;
        const answer = await ask(server, query);
        assert.is(entryOf(answer), last);
        const rows = linesOf(await answer.text());
        assert.ok(rows.length > 0 || table === 'tns', query);
        assert.equal(rows, linesOf(await answerOf(engine, query)), query);
      }
    assert.is(engine.contents!.sequence, last);
    assert.is(engine.contents!.changed, 0);
  } finally {
    await closed(engine);
    rmSync(join(dataDir, 'tap', `${process.pid}`), { recursive: true });
  }
}

check(
  'each answer is of the entry that it names, also after kills; at rest the tables are those of an export [Headers]',
  () =>
    withDirectory(async directory => {
      const dataDir = join(directory, 'data');
      const store = openStore(dataDir, 'write');
      const changes = new Changes(store);
      while (changes.last < 100) await changes.change();
      const serve = () =>
        startServer(['serve', '--data', dataDir, '--port', '0', '--no-crossmatch'], { TAP_QUERY_SECONDS: '50' });
      let server = await serve();
      const ages: number[] = [];
      const waits: Record<'start' | 'crash', number[]> = { start: [], crash: [] };
      const entries = new Set<number>();
      let kilobytes = 0;
      const answered = async () => {
        for (;;) {
          const answer = await ask(server, QUERY);
          if (answer.status !== 503) return answer;
          await answer.text();
          await sleep(PAUSE_MS);
        }
      };
      /** Sends a query, and compares the answer with the data stored at its entry. */
      const check = async (what: string) => {
        const beganMs = performance.now();
        const answer = await answered();
        const gotMs = Date.now();
        const took = performance.now() - beganMs;
        const text = await answer.text();
        assert.is(answer.status, 200, `${what}: ${text}`);
        const entry = entryOf(answer);
        // The engine can follow an entry before the writer knows that it is stored.
        const state = await eventually(`${what}: entry ${entry}`, async () => changes.states.get(entry));
        assert.is(linesOf(text).join('\n'), state.rows, `${what}: entry ${entry}`);
        entries.add(entry);
        // The age of the answer is that of the first change that it lacks.
        const next = changes.states.get(entry + 1);
        return { entry, took, age: next ? gotMs - next.atMs : 0 };
      };
      const rest = async () => {
        await changes.pause();
        const { last } = changes;
        await eventually('the tables to catch up', async () =>
          (await check('rest')).entry === changes.last ? true : undefined,
        );
        assert.is(changes.last, last);
        await assertExported(server, dataDir, last);
        changes.resume();
      };
      const registered = ['des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4', CATALOG];
      const happenings: readonly (() => Promise<void>)[] = [
        async () => {
          process.kill(engineOf(server), 'SIGKILL');
          waits.crash.push((await check('after a crash')).took);
        },
        async () => {
          const name = registered.shift();
          if (name) await nearsky('catalog', 'add', name, join(sample, 'catalogs', name), '--data', dataDir);
        },
        async () => {
          send(server.child, 'SIGKILL');
          await server.finished;
          server = await serve();
          waits.start.push((await check('after a start')).took);
        },
      ];
      const ends = new AbortController();
      const first = await check('first');
      const running = changes.run(ends.signal);
      try {
        let [beganAt, before] = [performance.now(), processorSeconds(engineOf(server))];
        let [seconds, processor] = [0, 0];
        for (let i = 1; i <= ANSWERS; i++) {
          ages.push((await check(`answer ${i}`)).age);
          kilobytes = Math.max(kilobytes, sizeOf(join(dataDir, 'tap')));
          await sleep(PAUSE_MS);
          if (i % BETWEEN !== 0) continue;
          seconds += (performance.now() - beganAt) / 1000;
          processor += processorSeconds(engineOf(server)) - before;
          await happenings[(i / BETWEEN) % happenings.length]!();
          if (i === ANSWERS >> 1) await rest();
          [beganAt, before] = [performance.now(), processorSeconds(engineOf(server))];
        }
        ends.abort();
        await running;
        await rest();
        assert.ok(entries.size > 1, `${entries.size} entries`);
        const quantile = (values: number[], share: number) =>
          Math.round(values.sort((a, b) => a - b)[Math.floor(share * (values.length - 1))]!);
        const whole = join(directory, 'export');
        await nearsky('export', '--format', 'hats', '--data', dataDir, whole);
        console.log(
          `${ANSWERS} answers of ${entries.size} entries, ages p50 ${quantile(ages, 0.5)} ms, p99 ${quantile(ages, 0.99)} ms; first answer ` +
            `${Math.round(first.took)} ms, after a start ${quantile(waits.start, 0.5)} to ${quantile(waits.start, 1)} ms, ` +
            `after a crash ${quantile(waits.crash, 0.5)} to ${quantile(waits.crash, 1)} ms; disk at most ` +
            `${(kilobytes / sizeOf(whole)).toFixed(2)} of the export (${sizeOf(whole)} kB), in the end ` +
            `${(sizeOf(join(dataDir, 'tap')) / sizeOf(whole)).toFixed(2)}; engine ${(processor / seconds).toFixed(2)} of a processor, with queries`,
        );
        const { text } = await ask(server, QUERY, 'votable/td').then(async answer => ({ text: await answer.text() }));
        assert.match(text, `name="nearsky_journal_entry" value="${changes.last}"`);
        const got = async (path: string) => await (await fetch(server.url + path)).text();
        assert.match(await got('/vo/tap/availability'), `up to entry ${changes.last},`);
        assert.match(await got('/metrics'), `nearsky_tap_sequence ${changes.last}\n`);
      } finally {
        ends.abort();
        await running;
        await server.stop();
        await store.close();
      }
    }),
);

test.run();
