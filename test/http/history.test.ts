/** `at`: answers from the state after an earlier journal entry (docs/contract.md, The state after an entry). */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apply } from '../../src/store/apply.ts';
import type { Change } from '../../src/store/changes.ts';
import { FILE_NAME } from '../../src/store/environment.ts';
import { encodeKey } from '../../src/store/records.ts';
import { openStore } from '../../src/store/store.ts';
import { RefusedChange } from '../../src/store/store_error.ts';
import { Writer } from '../../src/store/writer.ts';
import { seededRandom } from '../oracle/skies.ts';
import { RandomChanges } from '../store/random_changes.ts';
import {
  crossmatched,
  delivery,
  match,
  NOW_US,
  PROVENANCE,
  searched,
  TestApp,
  type World,
  withApp,
  withDirectory,
} from './support.ts';

const test = suite('http/history');
const SEEDS = Number(process.env.NEARSKY_SEEDS ?? 1);
const CHANGES = 50;
/** The ids of random changes. */
const IDS = [0n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 20n].flatMap(first =>
  Array.from({ length: 16 }, (_, i) => first + BigInt(i)),
);
const INPUTS = [...IDS, 77n].map(id => ({ kind: 'id', diaObjectId: `${id}` }));
const ENTRY = 'X-Journal-Entry';

function applyTo({ store: { databases } }: World, change: Change): void {
  databases.objects.transactionSync(() => {
    try {
      apply(databases, change);
    } catch (error) {
      if (!(error instanceof RefusedChange)) throw error;
    }
  });
}

/** Catalogs change the settings of the service, which no history has. */
function objectChange(changes: RandomChanges): Change {
  for (;;) {
    const change = changes.change();
    if (!change.kind.endsWith('_catalog')) return change;
  }
}

/** Questions, each without and with `at`. */
const questions = (i: number): ((app: TestApp, at?: string) => ReturnType<TestApp['get']>)[] => {
  const id = IDS[i % IDS.length]!;
  const detail = ['ids', 'position', 'matches', 'full'][i % 4]!;
  const get = (query: string) => (app: TestApp, at?: string) =>
    app.get(`/api/objects/${id}?${query}${at === undefined ? '' : `&at=${at}`}`);
  const post = (body: object) => (app: TestApp, at?: string) =>
    app.post('/api/lookup', { inputs: INPUTS, ...body, ...(at !== undefined && { at: Number(at) }) });
  return [
    get(`detail=${detail}`),
    get(`detail=full&format=${['csv', 'votable', 'msgpack', 'ndjson'][i % 4]}`),
    post({ detail: 'full' }),
    post({ detail: 'matches', filters: { separation_arcsec_max: 0.5, reliability_min: 0.2 } }),
    post({ response: 'count', filters: { reliability_max: 0.5 } }),
  ];
};

test('every answer by id, asked again after any further changes, has the same bytes', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const kept: { readonly i: number; readonly texts: string[]; readonly at: string }[] = [];
    let differing = 0;
    await withApp(
      ({ writer }) => writer.keepHistory(true),
      async (app, world) => {
        const changes = new RandomChanges(seededRandom(seed), true);
        for (let i = 0; i < CHANGES; i++) {
          applyTo(world, objectChange(changes));
          const answers = [];
          for (const ask of questions(i)) answers.push(await ask(app));
          const entries = new Set(answers.map(({ headers }) => headers.get(ENTRY)));
          assert.equal([...entries], [`${world.store.lastSequence()}`]);
          kept.push({ i, texts: answers.map(({ text }) => text), at: [...entries][0]! });
        }
        for (const { i, texts, at } of kept) {
          for (const [k, ask] of questions(i).entries()) {
            const { status, text, headers } = await ask(app, at);
            assert.is(status, 200, text);
            assert.ok(text === texts[k], `seed ${seed}, entry ${at}, question ${k}`);
            assert.is(headers.get(ENTRY), at);
            if ((await ask(app)).text !== text) differing++;
          }
        }
      },
    );
    assert.ok(differing > CHANGES, `only ${differing} answers would be others today`);
  }
});

const ID = 5n;

async function fill({ writer, store, directory }: World): Promise<void> {
  await writer.keepHistory(true);
  await writer.ingest([delivery(1n)], NOW_US);
  await writer.ingest([delivery(ID)], NOW_US);
  await crossmatched({ writer, store, directory }, ID, searched('gaia_dr3'), [match('gaia_dr3', '9')]);
}

const statusAt = async (app: TestApp, at: number) => (await app.result(`/api/objects/${ID}?at=${at}`)).status;

test('an object goes from unknown to pending to crossmatched, entry by entry', async () => {
  await withApp(fill, async app => {
    const statuses = [];
    for (const at of [0, 1, 2, 3]) statuses.push(await statusAt(app, at));
    assert.equal(statuses, ['not_in_service', 'not_in_service', 'crossmatch_pending', 'coincident_sources']);
  });
});

test('a removed object is still answered as before its removal, with its matches, also after it is delivered anew', async () => {
  await withApp(fill, async (app, world) => {
    const { store, writer } = world;
    const full = async (at?: number) =>
      (await app.get(`/api/objects/${ID}?detail=full${at === undefined ? '' : `&at=${at}`}`)).text;
    const kept = [await full(0), await full(1), await full(2), await full()];
    assert.match(kept[3]!, /"catalog_source_id": "9"[\s\S]*"ruwe": 1\.5/);
    await writer.remove([ID], 'wrong');
    kept.push(await full());
    assert.is(await statusAt(app, 4), 'not_in_service');
    await writer.ingest([delivery(ID, { position: { ra: 10, dec: 20 } })], NOW_US);
    kept.push(await full());
    await crossmatched(world, ID, searched('gaia_dr3'), [match('gaia_dr3', '7'), match('gaia_dr3', '8')]);
    kept.push(await full());
    await writer.remove([ID], 'wrong again');
    kept.push(await full());
    assert.is(store.lastSequence(), kept.length - 1);
    for (const [at, text] of kept.entries()) assert.is(await full(at), text, `entry ${at}`);
    const statuses = [];
    for (const at of kept.keys()) statuses.push(await statusAt(app, at));
    assert.equal(statuses.slice(2), [
      'crossmatch_pending',
      'coincident_sources',
      'not_in_service',
      'crossmatch_pending',
      'coincident_sources',
      'not_in_service',
    ]);
  });
});

test('a crossmatch that is repeated with other settings keeps the former one', async () => {
  await withApp(fill, async (app, { writer }) => {
    const path = `/api/objects/${ID}?detail=full`;
    const before = await app.get(path);
    const results = [{ diaObjectId: ID, catalogOutcomes: searched('gaia_dr3'), matches: [] }];
    const provenance = { ...PROVENANCE, crossmatch_radius_arcsec: 2 };
    assert.equal(await writer.recordCrossmatches(results, provenance, NOW_US, true), { recorded: 1, skipped: 0 });
    assert.is.not((await app.get(path)).text, before.text);
    assert.is((await app.get(`${path}&at=${before.headers.get(ENTRY)}`)).text, before.text);
  });
});

test('an entry that is not in the history is refused with its bounds', async () => {
  await withApp(fill, async (app, { store, writer }) => {
    const refused = async (at: number) => {
      const { status, body } = await app.get(`/api/objects/${ID}?at=${at}`);
      assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'at']);
      return body.message;
    };
    assert.is(await refused(4), 'at must be from 0 to 3 (got 4): the newest journal entry is 3');
    await writer.keepHistory(false);
    assert.is(store.databases.history.entryCount(), 0);
    assert.is(
      await refused(2),
      'Cannot answer with at because this service keeps no history (NEARSKY_HISTORY): leave it out',
    );
    await writer.keepHistory(true);
    await writer.keepHistory(true);
    await writer.ingest([delivery(9n)], NOW_US);
    assert.is(
      await refused(2),
      'at must be from 3 to 4 (got 2): the history begins with journal entry 3, when this service began to keep it',
    );
    assert.is(await statusAt(app, 3), 'coincident_sources');
    for (const at of [-1, 1.5, '1', 2 ** 60]) {
      const { status, body } = await app.post('/api/lookup', { inputs: INPUTS, at });
      assert.equal([status, body.param], [400, 'at'], `${at}`);
    }
  });
});

test('a removal lets other work go on, and can be interrupted and continued', async () => {
  await withApp(fill, async (app, { store: { databases }, writer }) => {
    const { history } = databases;
    history.transactionSync(() => {
      for (let i = 0n; i < 25_000n; i++) history.put(Buffer.concat([encodeKey(i), encodeKey(1n)]), new Uint8Array(0));
    });
    const stop = new AbortController();
    setImmediate(() => stop.abort());
    await writer.keepHistory(false, stop.signal);
    assert.ok(history.entryCount() > 5000, 'it was interrupted');
    assert.is((await app.get(`/api/objects/${ID}?at=3`)).status, 400);
    await writer.keepHistory(false);
    assert.is(history.entryCount(), 0);
  });
});

test('two processes that begin a history at once do not remove its records', async () => {
  await withApp(fill, async (app, { store, writer }) => {
    await writer.keepHistory(false);
    const left = new Uint8Array(16);
    store.databases.history.transactionSync(() => store.databases.history.put(left, left));
    const other = new Writer(store);
    const { resetRead } = store;
    store.resetRead = () => {
      store.resetRead = resetRead;
      store.resetRead();
      void other.keepHistory(true);
      void other.ingest([delivery(9n), delivery(ID, { broker: 'antares' })], NOW_US);
      store.resetRead();
    };
    await writer.keepHistory(true);
    assert.is(store.databases.history.entryCount(), 2);
    assert.is((await app.result('/api/objects/9?at=3')).status, 'not_in_service');
  });
});

test('the entries after a restored backup have the numbers of those that were lost', async () => {
  await withApp(fill, async (app, { store, writer }) => {
    await withDirectory(async directory => {
      await store.copyTo(join(directory, FILE_NAME));
      await writer.ingest([delivery(ID, { broker: 'antares' })], NOW_US);
      const lost = await app.get(`/api/objects/${ID}`);
      const restored = openStore(directory, 'write');
      const again = await new TestApp(directory).ready();
      assert.is((await again.get(`/api/objects/${ID}?at=4`)).status, 400);
      await new Writer(restored).ingest([delivery(ID, { broker: 'fink' })], NOW_US);
      const { status, headers, text } = await again.get(`/api/objects/${ID}?at=4`);
      assert.equal([status, headers.get(ENTRY), lost.headers.get(ENTRY)], [200, '4', '4']);
      assert.is.not(text, lost.text);
      assert.is((await again.get(`/api/objects/${ID}?at=3`)).text, (await app.get(`/api/objects/${ID}?at=3`)).text);
      await again.app.close();
      await restored.close();
    });
  });
});

test('an operation without a history refuses `at`, and so do positions and names', async () => {
  await withApp(fill, async app => {
    for (const path of [
      '/api/cone?ra=1&dec=2&radius_arcsec=3',
      '/api/tns/2026abc',
      '/api/objects?',
      '/api/recent-crossmatches?',
      '/api/sources?ra=1&dec=2&radius_arcsec=3',
      '/api/sky-map?',
    ]) {
      const { status, body } = await app.get(`${path}${path.includes('?') ? '&' : '?'}at=1`);
      assert.equal([status, body.code, body.param], [400, 'unsupported_parameter', 'at'], path);
    }
    const position = { kind: 'position', ra: 1, dec: 2, radius_arcsec: 3 };
    const { status, body } = await app.post('/api/lookup', { inputs: [position, INPUTS[0]], at: 1 });
    assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'at']);
    const answer = await app.post('/api/lookup', { inputs: [position] });
    assert.equal([answer.status, answer.headers.get(ENTRY)], [200, null]);
  });
});

test.run();
