/**
 * Tables that follow the journal while it grows and the engine is killed: each answer is of the entry that it names, in
 * all its tables, and no answer has to wait for tables to be made again. TAP_ANSWERS=1000 asks more often.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newestMatches } from '../../src/store/newest_matches.ts';
import { isInstalled } from '../../src/tap/tap.ts';
import { delivery, match, PROVENANCE, searched, startApp, type TestApp, type World } from '../http/support.ts';
import { needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';

const test = suite('tap: live');
const check = needs(
  test,
  isInstalled()
    ? process.platform === 'linux'
      ? undefined
      : 'the process of the engine is found on Linux'
    : '@duckdb/node-api is not installed: npm install gets it where it can',
);

const ANSWERS = Number(process.env.TAP_ANSWERS ?? 40);
/** Answers between two kills of the engine. */
const BETWEEN_KILLS = 15;
/** The time between two changes. */
const CHANGE_MS = 40;
const CATALOG = 'gaia_dr3';

const QUERY = [
  "SELECT 'objects' AS source, COUNT(*) AS n, SUM(matches) AS total FROM objects",
  "SELECT 'matches', COUNT(*), SUM(match_version) FROM matches",
  "SELECT 'crossmatches', COUNT(*), SUM(match_version) FROM crossmatches",
  `SELECT '${CATALOG}', COUNT(*), SUM(match_version) FROM ${CATALOG}_matches`,
  "SELECT 'joined', COUNT(*), SUM(m.match_version) FROM objects AS o JOIN matches AS m ON o.diaObjectId = m.diaObjectId",
].join(' UNION ALL ');

/** What the query finds in the present state of the database. */
function expected({ store }: World): { entry: number; rows: string } {
  const snapshot = store.snapshot();
  try {
    const tally = { objects: [0, 0], matches: [0, 0], crossmatches: [0, 0] };
    for (const { object } of snapshot.objects()) {
      const { matches, records, state } = object.decode();
      tally.objects[0]!++;
      const current = records.at(-1);
      if (state !== 'pending') tally.objects[1]! += newestMatches(matches).length;
      for (const { matchVersion } of matches) {
        tally.matches[0]!++;
        tally.matches[1]! += matchVersion;
      }
      if (!current) continue;
      tally.crossmatches[0]! += current.catalogOutcomes.length;
      tally.crossmatches[1]! += current.catalogOutcomes.length * current.matchVersion;
    }
    const found = { ...tally, [CATALOG]: tally.matches, joined: tally.matches };
    const rows = Object.entries(found).map(([name, [n, total]]) => `${name},${n},${n === 0 ? '' : total}`);
    return { entry: snapshot.lastSequence(), rows: rows.sort().join('\n') };
  } finally {
    snapshot.close();
  }
}

/** Ingests, crossmatches and crossmatches again, a few objects in each commit. */
class Changes {
  readonly #world: World;
  readonly #random = seededRandom(36);
  #lastId = 0n;
  #timeUs = Date.now() * 1000;
  #source = 0;
  /** What was stored at each entry of the journal, and when. */
  readonly states = new Map<number, { readonly rows: string; readonly atMs: number }>();

  constructor(world: World) {
    this.#world = world;
  }

  note(): void {
    const { entry, rows } = expected(this.#world);
    this.states.set(entry, { rows, atMs: Date.now() });
  }

  async change(): Promise<void> {
    const { writer } = this.#world;
    const random = this.#random;
    const known = () => 1n + BigInt(Math.floor(random() * Number(this.#lastId)));
    const nowUs = (this.#timeUs += 1_000_000);
    const kind = this.#lastId < 100n ? 0 : random();
    if (kind < 0.4) {
      const fresh = Array.from({ length: 1 + Math.floor(20 * random()) }, () => {
        const position = random() < 0.05 ? null : { ra: 360 * random(), dec: 180 * random() - 90 };
        return delivery((this.#lastId += 1n), { position });
      });
      await writer.ingest(fresh, nowUs);
    } else if (kind < 0.5) {
      await writer.ingest([delivery(known(), { broker: random() < 0.5 ? 'lasair' : 'fink' })], nowUs);
    } else {
      const ids = [...new Set(Array.from({ length: 10 }, known))];
      const results = ids.map(diaObjectId => ({
        diaObjectId,
        catalogOutcomes: searched(CATALOG),
        matches: random() < 0.6 ? [match(CATALOG, `${++this.#source}`)] : [],
      }));
      const provenance = { ...PROVENANCE, crossmatch_radius_arcsec: 1 + Math.floor(3 * random()) };
      await writer.recordCrossmatches(results, provenance, nowUs, random() < 0.5);
    }
    this.note();
  }
}

async function ask(app: TestApp, query: string) {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ LANG: 'ADQL', QUERY: query, RESPONSEFORMAT: 'votable/td' }).toString();
  return await app.get('/vo/tap/sync', { method: 'POST', headers, body });
}

const infoOf = (text: string, name: string) => new RegExp(`<INFO name="${name}" value="([^"]*)"`).exec(text)?.[1];

function rowsOf(text: string): string {
  const rows = [...text.matchAll(/<TR>(.*?)<\/TR>/gs)].map(([, row]) =>
    [...row!.matchAll(/<TD\s*\/>|<TD>(.*?)<\/TD>/gs)].map(([, cell]) => cell ?? '').join(','),
  );
  return rows.sort().join('\n');
}

function killEngine(): void {
  const script = `for status in $(grep -l "^PPid:[[:space:]]${process.pid}$" /proc/[0-9]*/status 2>/dev/null); do
    process=$(dirname $status); grep -q workers/tap_[e]ngine $process/cmdline && echo $(basename $process); done`;
  const pid = Number(spawnSync('sh', ['-c', script], { encoding: 'utf8' }).stdout);
  assert.ok(pid > 0);
  process.kill(pid, 'SIGKILL');
}

check('each answer is of the entry that it names, also after the engine was killed', async () => {
  let changes: Changes | undefined;
  const { app, world, close } = await startApp(
    async world => {
      changes = new Changes(world);
      for (let i = 0; i < 30; i++) await changes.change();
    },
    { TAP_QUERY_SECONDS: '50' },
  );
  const { states } = changes!;
  let isOver = false;
  try {
    let first = await ask(app, QUERY);
    for (; first.status === 503; first = await ask(app, QUERY)) await sleep(100);
    assert.is(first.status, 200, first.text);
    const changing = (async () => {
      for (; !isOver; await sleep(CHANGE_MS)) await changes!.change();
    })();
    const ages: number[] = [];
    const entries = new Set<number>();
    for (let i = 1; i <= ANSWERS; i++) {
      if (i % BETWEEN_KILLS === 0) killEngine();
      const { status, text } = await ask(app, QUERY);
      const gotMs = Date.now();
      assert.is(status, 200, `${i}: ${text}`);
      const entry = Number(infoOf(text, 'nearsky_journal_entry'));
      const state = states.get(entry);
      assert.ok(state, `entry ${entry}`);
      assert.is(rowsOf(text), state!.rows, `entry ${entry}`);
      entries.add(entry);
      // The answer is as old as the first change that is not in it.
      const next = states.get(entry + 1);
      ages.push(next ? gotMs - next.atMs : 0);
      await sleep(100);
    }
    isOver = true;
    await changing;
    assert.ok(entries.size > 1, `${entries.size} entries`);
    ages.sort((a, b) => a - b);
    const [p50, p99] = [0.5, 0.99].map(share => ages[Math.floor(share * (ages.length - 1))]);
    console.log(`ages of ${ANSWERS} answers: p50 ${p50} ms, p99 ${p99} ms, ${entries.size} entries`);
    const last = Math.max(...states.keys());
    for (let tries = 0; ; tries++) {
      const { text } = await ask(app, QUERY);
      if (Number(infoOf(text, 'nearsky_journal_entry')) === last) break;
      assert.ok(tries < 100, 'the tables do not catch up');
      await sleep(100);
    }
    const answer = await ask(app, QUERY);
    assert.is(rowsOf(answer.text), expected(world).rows);
    assert.is(answer.headers.get('X-Journal-Entry'), `${last}`);
    assert.ok(Math.abs(Date.now() - Date.parse(answer.headers.get('X-As-Of')!)) < 60_000);
    assert.match((await app.get('/vo/tap/availability')).text, `up to entry ${last},`);
    assert.match((await app.get('/metrics')).text, `nearsky_tap_sequence ${last}\n`);
  } finally {
    isOver = true;
    await close();
  }
});

test.run();
