/** Queries of earlier states (AT): their rows are those of queries that were asked then. */
import { globSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apply } from '../../src/store/apply.ts';
import { decodeHistoryKey } from '../../src/store/history.ts';
import { readDone } from '../../src/store/nights.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { RefusedChange } from '../../src/store/store_error.ts';
import { Writer } from '../../src/store/writer.ts';
import { Engine } from '../../src/tap/engine.ts';
import { isInstalled } from '../../src/tap/tap.ts';
import { fillSky } from '../hats_export/support.ts';
import { delivery, eventually, NOW_US, type TestApp, withApp, withDirectory } from '../http/support.ts';
import { duckdbObstacle, needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { RandomChanges } from '../store/random_changes.ts';
import { failure } from '../store/support.ts';
import { answerOf, closed, partsOf } from './support.ts';

const test = suite('tap: earlier states');
const check = needs(test, duckdbObstacle(isInstalled()));

const OBJECTS = 150;
const STATES = 2;
const CHANGES = 20;
/** The number of earlier states whose tables are kept. */
const KEPT = 1;
/** More rows than the engine prepares before their reader requests them. */
const MANY = 6000;
const TABLES = ['objects', 'matches', 'crossmatches', 'older_crossmatches', 'tns', 'gaia_dr3_matches'];

/** Calls `use` with an engine of its own. */
async function withEngine<T>(dataDir: string, use: (engine: Engine) => Promise<T>): Promise<T> {
  const limits = { memoryMib: 256, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: KEPT };
  const engine = await Engine.open({ dataDir, ...limits });
  try {
    return await use(engine);
  } finally {
    await closed(engine);
  }
}

const allOf = (table: string) => `SELECT t.* FROM ${table} AS t`;

/** The answers about every table; they are waited for while the tables are being made. */
async function answers(engine: Engine, at?: number): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const table of TABLES)
    found.set(
      table,
      await eventually(`${table} at ${at}`, () =>
        answerOf(engine, allOf(table), at).catch(error => {
          assert.match(error.message, '"early"');
          return undefined;
        }),
      ),
    );
  return found;
}

/** The rows, in an order that does not depend on the tables. */
const sorted = (found: Map<string, string>) =>
  new Map([...found].map(([table, text]) => [table, text.trimEnd().split('\n').sort()]));

function change(store: Store, changes: RandomChanges): void {
  store.databases.objects.transactionSync(() => {
    const next = changes.change();
    // The registered catalogs have no history.
    if (next.kind.endsWith('_catalog')) return;
    try {
      apply(store.databases, next);
    } catch (error) {
      if (!(error instanceof RefusedChange)) throw error;
    }
  });
}

const earlierFiles = (dataDir: string) =>
  readdirSync(join(dataDir, 'tap', `${process.pid}`))
    .filter(name => /^earlier.*\.duckdb$/.test(name))
    .sort();

check('the rows equal the answers of that time, with the same bytes each time', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    const changes = new RandomChanges(seededRandom(38), true);
    await writer.keepHistory(true);
    await fillSky(writer, OBJECTS);
    const kept = new Map<number, Map<string, string[]>>();
    await withEngine(dataDir, async engine => {
      for (let state = 0; state < STATES; state++) {
        for (let i = 0; i < CHANGES; i++) change(store, changes);
        store.resetRead();
        const sequence = store.lastSequence();
        await answerOf(engine, allOf('tns'));
        await eventually('the changes', async () => engine.contents!.sequence === sequence || undefined);
        kept.set(sequence, sorted(await answers(engine)));
      }
    });
    const ids = [...store.objects()].map(({ diaObjectId }) => diaObjectId);
    await writer.remove(ids.slice(0, 20), 'wrong');
    const first = new Map<number, Map<string, string>>();
    for (const [at, rows] of kept)
      await withEngine(dataDir, async engine => {
        first.set(at, await answers(engine, at));
        assert.equal(sorted(first.get(at)!), rows, `entry ${at}`);
        assert.is.not((await answers(engine)).get('objects'), first.get(at)!.get('objects'));
      });
    const files = earlierFiles(dataDir);
    assert.is(files.length, KEPT);
    // The next engine answers from the kept ones, and makes the older ones anew.
    for (const [at, texts] of [...first].reverse())
      await withEngine(dataDir, async engine => {
        assert.equal(await answers(engine, at), texts, `entry ${at}`);
        const isMade = earlierFiles(dataDir).some(name => !files.includes(name));
        assert.is(isMade, at === Math.min(...kept.keys()));
      });
    assert.equal(readDone(store.databases), {}, 'the exports for tables are not those of the operator');
    await store.close();
  }),
);

check('tables that a query reads are not replaced by those of another entry', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await writer.keepHistory(true);
    await fillSky(writer, MANY);
    const before = await withEngine(dataDir, engine => answers(engine, 1));
    const [file] = earlierFiles(dataDir);
    // This engine has made no tables yet, so it could make some at once.
    await withEngine(dataDir, async engine => {
      const reading = partsOf(engine, allOf('objects'), 1);
      const read = [(await reading.next()).value as Uint8Array];
      const early = await failure(() => answerOf(engine, allOf('tns'), 2));
      assert.match(early.message, 'the tables of journal entry 2 are being made');
      for await (const part of reading) read.push(part);
      assert.is(Buffer.concat(read).toString(), before.get('objects'));
      await answers(engine, 2);
      await eventually('the end of the older tables', async () => !earlierFiles(dataDir).includes(file!) || undefined);
    });
    await store.close();
  }),
);

check('no tables are made if the disk has too little space, or again and again if making them fails', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await writer.keepHistory(true);
    await writer.ingest([delivery(1n)], NOW_US);
    await writer.ingest([delivery(2n)], NOW_US);
    const refused = async (engine: Engine, at: number) =>
      JSON.parse((await failure(() => answerOf(engine, allOf('tns'), at))).message);
    await withEngine(dataDir, async engine => {
      await answerOf(engine, allOf('tns'));
      const [file] = globSync('tap/*/archive-*.duckdb', { cwd: dataDir });
      const path = join(dataDir, file!);
      const { size } = statSync(path);
      // No disk has space for three times as much.
      truncateSync(path, 2 ** 43);
      assert.is((await refused(engine, 1)).outcome, 'unavailable');
      truncateSync(path, size);
      // The latest ingest time after entry 1, without which an export fails.
      const time = [...store.databases.history.getKeys({})].at(-2)!;
      assert.is(decodeHistoryKey(time).sequence, 1);
      await store.databases.history.remove(time);
      await eventually('the failure', async () => (await refused(engine, 1)).outcome === 'unavailable' || undefined);
      assert.is((await refused(engine, 2)).outcome, 'early');
    });
    await store.close();
  }),
);

const ask = (app: TestApp, path: string, fields: Readonly<Record<string, string>>) => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const body = new URLSearchParams({ LANG: 'ADQL', FORMAT: 'csv', ...fields }).toString();
  return app.get(path, { method: 'POST', headers, body });
};

const COUNT = { QUERY: 'SELECT COUNT(*) AS n FROM objects' };

async function counted(app: TestApp, at?: number) {
  for (;;) {
    const answer = await ask(app, '/vo/tap/sync', { ...COUNT, ...(at !== undefined && { at: `${at}` }) });
    if (answer.status !== 503) return answer;
    assert.ok(answer.headers.has('Retry-After'));
    await sleep(100);
  }
}

check(
  'over HTTP AT names the entry; a job waits for the tables; an entry that the history does not have is refused',
  () =>
    withApp(
      async ({ writer }) => {
        await writer.ingest([delivery(1n)], NOW_US);
        await writer.keepHistory(true);
        await writer.ingest([delivery(2n), delivery(3n)], NOW_US + 1e6);
        await writer.remove([1n], 'wrong');
      },
      async (app, { writer, directory }) => {
        const refused = async (at: number) => {
          const { status, text } = await counted(app, at);
          assert.is(status, 400);
          return text;
        };
        assert.match(await refused(0), 'at must be from 1 to 3 (got 0): the history begins with journal entry 1');
        assert.match(await refused(4), 'at must be from 1 to 3 (got 4): the newest journal entry is 3');
        assert.match((await ask(app, '/vo/tap/sync', { ...COUNT, AT: 'x' })).text, 'AT must be');
        const past = await counted(app, 2);
        assert.equal([past.status, past.text], [200, 'n\n3\n']);
        assert.is(past.headers.get('X-Journal-Entry'), '2');
        assert.is(past.headers.get('X-As-Of'), new Date(NOW_US / 1000 + 1000).toISOString());
        assert.is((await counted(app)).text, 'n\n2\n');
        const made = await ask(app, '/vo/tap/async', { ...COUNT, AT: '1', PHASE: 'RUN' });
        const job = new URL(made.headers.get('Location')!).pathname;
        await eventually('the job', async () => (await app.get(`${job}/phase`)).text === 'COMPLETED' || undefined);
        assert.is((await app.get(`${job}/results/result`)).text, 'n\n1\n');
        await writer.keepHistory(false);
        assert.match(await refused(2), 'at needs a history, which is not kept here (NEARSKY_HISTORY)');
        const left = () => globSync('tap/*/earlier-*', { cwd: directory });
        await eventually('the end of the earlier tables', async () => left().length === 0 || undefined);
      },
    ),
);

check('AT can be switched off', () =>
  withApp(
    async ({ writer }) => {
      await writer.keepHistory(true);
      await writer.ingest([delivery(1n)], NOW_US);
    },
    async app => {
      const { status, text } = await counted(app, 1);
      assert.equal([status, text.includes('AT is switched off here (TAP_EARLIER_STATES)')], [400, true], text);
    },
    { TAP_EARLIER_STATES: '0' },
  ),
);

test.run();
