/** Queries of earlier states (AT): their rows are those of queries that were asked then. */
import { spawnSync } from 'node:child_process';
import { globSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { programFile } from '../../../src/core/base/program_files.ts';
import { apply } from '../../../src/core/store/apply.ts';
import { decodeHistoryKey } from '../../../src/core/store/history.ts';
import { readDone } from '../../../src/core/store/nights.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { RefusedChange } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, eventually, NOW_US, type TestApp, withApp, withDirectory } from '../../core/http/support.ts';
import { fillSky } from '../../core/store/filled_sky.ts';
import { RandomChanges } from '../../core/store/random_changes.ts';
import { failure } from '../../core/store/support.ts';
import { startServer } from '../../e2e/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { engine } from './engine_support.ts';
import { answerOf, closed, partsOf } from './support.ts';

const test = suite('tap: earlier states');
const check = needs(test, duckdbObstacle());

const onLinux = process.platform === 'linux' ? check : needs(test, 'the process of the engine is found on Linux');

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

/** Keeps a history, and stores so many objects, each with a journal entry of its own. */
async function ingestEach(writer: Writer, objects: number): Promise<void> {
  await writer.keepHistory(true);
  for (let id = 1; id <= objects; id++) await writer.ingest([delivery(BigInt(id))], NOW_US);
}

/** What `act` writes to the standard error. */
async function errorOutputOf(act: () => Promise<void>): Promise<string> {
  const { write } = process.stderr;
  let written = '';
  process.stderr.write = (chunk: string | Uint8Array) => {
    written += chunk;
    return true;
  };
  try {
    await act();
  } finally {
    process.stderr.write = write;
  }
  return written;
}

const earlierFiles = (dataDir: string) =>
  readdirSync(join(dataDir, 'tap', `${process.pid}`))
    .filter(name => /^earlier.*\.duckdb$/.test(name))
    .sort();

check('the rows equal the answers of that time, with the same bytes each time [The state after an entry]', () =>
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
      assert.match(early.message, 'the tables of journal entry 2 will be made after those of other entries');
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
    await ingestEach(writer, 3);
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
      // The latest ingest time after entry 2, without which an export fails.
      const time = [...store.databases.history.getKeys({})].at(-2)!;
      assert.is(decodeHistoryKey(time).sequence, 2);
      await store.databases.history.remove(time);
      const logged = await errorOutputOf(async () => {
        const both = await Promise.all([refused(engine, 2), refused(engine, 2)]);
        for (const { outcome } of [...both, await refused(engine, 2)]) assert.is(outcome, 'unavailable');
      });
      assert.is(logged.match(/tap_refresh_failed/g)?.length, 1, logged);
      // The disk has space again, but this entry failed a moment ago.
      assert.is((await refused(engine, 1)).outcome, 'unavailable');
      await answers(engine, 3);
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
        assert.match(await refused(0), 'AT must be from 1 to 3 (got 0): the history begins with journal entry 1');
        assert.match(await refused(4), 'AT must be from 1 to 3 (got 4): the newest journal entry is 3');
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
        assert.match(await refused(2), 'AT needs a history, which is not kept here (NEARSKY_HISTORY)');
        const left = () => globSync('tap/*/earlier-*', { cwd: directory });
        await eventually('the end of the earlier tables', async () => left().length === 0 || undefined);
      },
    ),
);

const QUERY = { LANG: 'ADQL', FORMAT: 'csv', ...COUNT };

/** Resolves while tables of an earlier state are being made. */
const inTheMaking = (dataDir: string, what: string) =>
  eventually(what, async () => globSync('tap/*/new-*', { cwd: dataDir }).length > 0 || undefined);

/** The processes that make tables. */
function makers(): string[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter(line => line.includes(`${programFile('workers/process.ts')} src/capabilities/adql/maker`));
}

onLinux('an engine that is killed while it makes the tables of an earlier state: the next one makes them', () =>
  withApp(
    async ({ writer }) => {
      await ingestEach(writer, 2);
    },
    async (app, { directory }) => {
      assert.is((await counted(app)).text, 'n\n2\n');
      const made = await ask(app, '/vo/tap/async', { ...COUNT, AT: '1', PHASE: 'RUN' });
      const job = new URL(made.headers.get('Location')!).pathname;
      await inTheMaking(directory, 'the tables');
      const { pid } = engine()!;
      process.kill(pid, 'SIGKILL');
      await eventually('the job', async () => (await app.get(`${job}/phase`)).text === 'COMPLETED' || undefined);
      assert.is((await app.get(`${job}/results/result`)).text, 'n\n1\n');
      assert.not.equal(engine()!.pid, pid);
      await eventually('the end of their maker', async () => makers().length === 0 || undefined);
      assert.equal(globSync('tap/*/new-*', { cwd: directory }), []);
      assert.is(globSync('tap/*/earlier-*.duckdb', { cwd: directory }).length, 1);
    },
  ),
);

onLinux('a service that is killed meanwhile: the next one completes the job, and a third one keeps the tables', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await ingestEach(writer, 2);
    await store.close();
    const serve = () => startServer(['serve', '--port', '0', '--data', dataDir], { NEARSKY_HISTORY: 'keep' });
    const post = (url: string, fields: Readonly<Record<string, string>>) =>
      fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
    const textOf = async (url: string) => (await fetch(url)).text();
    const first = await serve();
    const made = await post(`${first.url}/vo/tap/async`, { ...QUERY, AT: '1', PHASE: 'RUN' });
    const job = new URL(made.headers.get('Location')!).pathname;
    // The tables of the present state are made before.
    await eventually('the present tables', async () => globSync('tap/*/archive-*', { cwd: dataDir })[0]);
    await eventually('their end', async () => globSync('tap/*/new-*', { cwd: dataDir }).length === 0 || undefined);
    await inTheMaking(dataDir, 'the tables');
    first.child.kill('SIGKILL');
    await first.finished;
    const second = await serve();
    const phase = () => textOf(`${second.url}${job}/phase`);
    await eventually('the job', async () => (await phase()) === 'COMPLETED' || undefined);
    assert.is(await textOf(`${second.url}${job}/results/result`), 'n\n1\n');
    assert.is((await second.stop()).code, 0);
    const kept = () =>
      globSync('tap/*/earlier-*.duckdb', { cwd: dataDir }).map(path => statSync(join(dataDir, path)).ino);
    const [file] = kept();
    const third = await serve();
    const answer = await eventually('the answer', async () => {
      const found = await post(`${third.url}/vo/tap/sync`, { ...QUERY, AT: '1' });
      return found.status === 503 ? undefined : found;
    });
    assert.equal([answer.status, await answer.text()], [200, 'n\n1\n']);
    assert.equal(kept(), [file]);
    assert.is((await third.stop()).code, 0);
    await eventually('the end of their maker', async () => makers().length === 0 || undefined);
  }),
);

check('AT can be switched off', () =>
  withApp(
    async ({ writer }) => {
      await ingestEach(writer, 1);
    },
    async app => {
      const { status, text } = await counted(app, 1);
      assert.equal([status, text.includes('AT is switched off here (TAP_EARLIER_STATES)')], [400, true], text);
    },
    { TAP_EARLIER_STATES: '0' },
  ),
);

test.run();
