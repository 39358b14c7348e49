/** Exports of an earlier state: they equal the exports that were made then (docs/archive.md). */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exportHats } from '../../../src/capabilities/hats/hats_exporter.ts';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { apply } from '../../../src/core/store/apply.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { RefusedChange, StoreError } from '../../../src/core/store/store_error.ts';
import { exportLines } from '../../commands/lines.ts';
import { fillSky } from '../../core/store/filled_sky.ts';
import { RandomChanges } from '../../core/store/random_changes.ts';
import { delivery, failure, withStore } from '../../core/store/support.ts';
import { nearsky, start } from '../../e2e/support.ts';
import { seededRandom } from '../../oracle/skies.ts';

const test = suite('hats_export/history');

const SEEDS = Number(process.env.TEST_SEEDS ?? 1);
const CHANGES = 60;
/** Every so many changes there is an export in the HATS layout. */
const EXPORTED = 30;
/** The journal entries between the two bounds of an export of changes. */
const SPAN = 12;

type Bounds = { readonly since?: number; readonly at?: number };

/** The files of an export, by their paths. */
type Files = Map<string, string>;

function filesOf(directory: string): Files {
  const paths = globSync('**', { cwd: directory }).filter(path => statSync(join(directory, path)).isFile());
  return new Map(paths.sort().map(path => [path, readFileSync(join(directory, path), 'latin1')]));
}

/** Without the time of making. */
const undated = (files: Files) =>
  new Map([...files].map(([path, text]) => [path, text.replace(/^hats_creation_date=.*$/m, '')]));

async function exported(store: Store, data: string, bounds: Bounds) {
  const target = join(data, `export-${++exports}`);
  const options = { dataDir: data, store, target, builder: 'nearsky test', threads: 1, maxRows: 40 };
  const counts = await exportHats({ ...options, ...bounds, onProgress: () => {} });
  return { counts, files: filesOf(target) };
}
let exports = 0;

const lines = async (data: string, at: number) => (await exportLines(data, '--at', `${at}`)).join('\n');

/** Makes a change of objects. Catalogs and the registry have no history. */
function changeObjects(store: Store, changes: RandomChanges): void {
  store.databases.objects.transactionSync(() => {
    const change = changes.change();
    if (/_catalog$|registry/.test(change.kind)) return;
    try {
      apply(store.databases, change);
    } catch (error) {
      if (!(error instanceof RefusedChange)) throw error;
    }
  });
  store.resetRead();
}

test('an export of an earlier state has the files of an export made then, and the same bytes each time [The state after an entry]', async () => {
  for (let seed = 1; seed <= SEEDS; seed++)
    await withStore(async (store, writer, data) => {
      const changes = new RandomChanges(seededRandom(seed), true);
      await writer.keepHistory(true);
      const empty = await exported(store, data, {});
      await fillSky(writer, 150, seed);
      const states = new Map<number, string>();
      const kept: { readonly bounds: Bounds & { at: number }; readonly made: Awaited<ReturnType<typeof exported>> }[] =
        [{ bounds: { at: 0 }, made: empty }];
      for (let i = 1; i <= CHANGES; i++) {
        const ids = [...store.objects()].slice(i, i + 3).map(({ diaObjectId }) => diaObjectId);
        if ((i + 1) % EXPORTED === 0) await writer.remove(ids, 'wrong');
        const before = store.lastSequence();
        while (store.lastSequence() === before) changeObjects(store, changes);
        const at = store.lastSequence();
        states.set(at, (await exportLines(data)).join('\n'));
        if (i % EXPORTED > 0) continue;
        kept.push({ bounds: { at }, made: await exported(store, data, {}) });
        const since = at - SPAN;
        kept.push({ bounds: { since, at }, made: await exported(store, data, { since }) });
      }
      const where = (at: number) => `seed ${seed}, entry ${at}`;
      for (const [at, text] of states) assert.ok((await lines(data, at)) === text, where(at));
      assert.ok(new Set(states.values()).size > CHANGES / 2, 'few states differ');
      let removed = 0;
      for (const { bounds, made } of kept) {
        const first = await exported(store, data, bounds);
        assert.equal(first.counts, made.counts, where(bounds.at));
        assert.equal(undated(first.files), undated(made.files), where(bounds.at));
        if (bounds.at > CHANGES)
          assert.equal((await exported(store, data, bounds)).files, first.files, where(bounds.at));
        removed += made.counts.removed;
      }
      assert.ok(removed > 0, 'no export lists removed objects');
    });
});

test('without a history nothing is exported, and a snapshot keeps the history that it has', () =>
  withStore(async (store, writer, data) => {
    await writer.keepHistory(true);
    await writer.ingest([delivery(1n)], 1000);
    const snapshot = store.snapshot(0);
    await writer.keepHistory(false);
    assert.equal([...snapshot.objects()], []);
    snapshot.close();
    const error = await failure(() => exported(store, data, { at: 0 }));
    assert.instance(error, StoreError);
    assert.match(error.message, 'at needs a history, which is not kept here (NEARSKY_HISTORY)');
    assert.not.ok(existsSync(join(data, `export-${exports}`)));
  }));

test('the command exports the state after an entry, and refuses an entry that the history does not have', () =>
  withStore(async (_, writer, data) => {
    const run = (...args: string[]) => ['export', '--data', data, ...args];
    const refused = async (...args: string[]) => {
      const { code, stderr } = await start(run(...args)).finished;
      assert.is(code, 2, stderr);
      return stderr;
    };
    const hats = ['--format', 'hats', join(data, 'x')];
    await writer.ingest([delivery(1n)], 1000);
    assert.match(await refused('--at', '1', ...hats), '--at needs a history');
    await writer.keepHistory(true);
    await writer.ingest([delivery(2n)], 1.7e15);
    await writer.remove([1n], 'wrong');
    const bounds = '--at must be from 1 to 3';
    assert.match(await refused('--at', '4', join(data, 'x')), `${bounds} (got 4): the newest journal entry is 3`);
    assert.match(await refused('--at', '0', ...hats), `${bounds} (got 0): the history begins with journal entry 1`);
    assert.match(await refused('--at', '-1', ...hats), '--at must be a journal entry, 0 or more (-1 was given)');
    assert.match(
      await refused('--since', '3', '--at', '2', ...hats),
      '--since must be at most --at (3 and 2 were given)',
    );
    const made = async (at: number, ...args: string[]) => {
      const counts = await nearsky(...run('--at', `${at}`, '--format', 'hats', ...args, join(data, `${at}`)));
      return [counts.sequence, counts.objects, counts.removed];
    };
    assert.equal(
      [await made(2), await made(3, '--since', '1')],
      [
        [2, 2, 0],
        [3, 1, 1],
      ],
    );
    const properties = readFileSync(join(data, '2/objects/objects/hats.properties'), 'utf8');
    assert.match(properties, /^nearsky_journal_entry=2$/m);
    assert.match(properties, /^hats_creation_date=2023-11-14T22:13:20UTC$/m);
    const load = await writer.commit({ kind: 'begin_registry' });
    const record = { objid: 1, name: '2026a', namePrefix: null, ra: 1, dec: 2, classification: null, redshift: null };
    await writer.commit({ kind: 'stage_registry', load, records: [record] });
    await publishLoad(writer, load, 1000);
    const counts = async (...args: string[]) => {
      const { object, tns_object } = await nearsky(...run(...args, join(data, 'lines')));
      return [object, tns_object];
    };
    assert.equal(
      [await counts('--at', '2'), await counts()],
      [
        [2, 0],
        [1, 1],
      ],
    );
  }));

test.run();
