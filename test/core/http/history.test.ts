/** `at`: answers from the state after an earlier journal entry (docs/contract.md, The state after an entry). */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apply } from '../../../src/core/store/apply.ts';
import type { Change } from '../../../src/core/store/changes.ts';
import { FILE_NAME } from '../../../src/core/store/data_files.ts';
import type { ImportItem } from '../../../src/core/store/import.ts';
import { encodeKey } from '../../../src/core/store/records.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { RefusedChange } from '../../../src/core/store/store_error.ts';
import type { SkyPosition } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { FACTS } from '../facts.ts';
import { RandomChanges } from '../store/random_changes.ts';
import { ENTRY, fill, ID, indexed, sequenceOf } from './history.ts';
import {
  crossmatched,
  delivery,
  type Json,
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
const SEEDS = Number(process.env.TEST_SEEDS ?? 1);
const CHANGES = Number(process.env.TEST_CHANGES ?? 12);
/** The ids of random changes. */
const IDS = [0n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 20n].flatMap(first =>
  Array.from({ length: 16 }, (_, i) => first + BigInt(i)),
);
const INPUTS = [...IDS, 77n].map(id => ({ kind: 'id', diaObjectId: `${id}` }));

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

test('every answer by id, asked again after any further changes, has the same bytes [Headers; The state after an entry]', async () => {
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
            if (differing <= CHANGES && (await ask(app)).text !== text) differing++;
          }
        }
      },
    );
    assert.ok(differing > CHANGES, `only ${differing} answers would be others today`);
  }
});

/** Moves objects so close together that a cone has some of them. */
function crowded(change: Change): Change {
  const near = <T extends { readonly position: SkyPosition | null }>(object: T): T => {
    const { position } = object;
    return position ? { ...object, position: { ra: 10 + (position.ra % 1) / 100, dec: position.dec / 9000 } } : object;
  };
  if (change.kind === 'deliver') return { ...change, deliveries: change.deliveries.map(near) };
  if (change.kind !== 'import') return change;
  const entries = change.entries as readonly ImportItem[];
  return {
    ...change,
    entries: entries.map(item => (item.kind === 'object' ? { ...item, object: near(item.object) } : item)),
  };
}

type Ask = (app: TestApp, at?: string) => ReturnType<TestApp['get']>;

const withAt = (path: string, at?: string) => (at === undefined ? path : `${path}&at=${at}`);

/** Searches, and walks through all pages of one. */
const searches = (i: number): Ask[] => {
  const detail = ['ids', 'position', 'matches', 'full'][i % 4]!;
  const get = (path: string) => (app: TestApp, at?: string) => app.get(withAt(path, at));
  const cone = (query: string) => get(`/api/cone?ra=10.005&dec=0&${query}`);
  const lookup = (body: object) => (app: TestApp, at?: string) =>
    app.post('/api/lookup', {
      inputs: [...POSITIONS, ...INPUTS],
      ...body,
      ...(at !== undefined && { at: Number(at) }),
    });
  const walk = (path: string) => async (app: TestApp, at?: string) => {
    let answer = await app.get(withAt(path, at));
    for (let { text } = answer; ; text += answer.text) {
      const { next_cursor } = answer.body;
      if (next_cursor === null) return { ...answer, text };
      const { headers } = answer;
      // The cursor has the entry.
      answer = { ...(await app.get(`${path}&cursor=${next_cursor}`)), headers };
    }
  };
  return [
    cone(`radius_arcsec=60&detail=${detail}&page_size=3`),
    cone('radius_arcsec=25&detail=full&format=votable'),
    cone('radius_arcsec=30&detail=matches&separation_arcsec_max=0.5&reliability_min=0.2'),
    cone('radius_arcsec=30&response=count&reliability_max=0.7'),
    walk(`/api/cone?ra=10.005&dec=0&radius_arcsec=60&detail=${detail}&page_size=4`),
    lookup({ detail: 'full' }),
    lookup({ response: 'count', filters: { separation_arcsec_max: 0.5 } }),
    ...FACTS.flatMap(({ searches }) => searches?.(i) ?? []).map(({ path, body, isWalk }) => {
      if (isWalk) return walk(path);
      return body === undefined ? get(path) : (app: TestApp, at?: string) => app.post(withAt(path, at), body, null);
    }),
  ];
};
const POSITIONS = [1, 20, 60].map(radius_arcsec => ({ kind: 'position', ra: 10.005, dec: 0, radius_arcsec }));

test('every answer by position, area or time, asked again after any further changes, has the same bytes [The state after an entry]', async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const kept: { readonly i: number; readonly k: number; readonly text: string; readonly at: string }[] = [];
    const entries = new Set<string>();
    const differing = new Set<number>();
    await withApp(
      ({ writer }) => writer.keepHistory(true),
      async (app, world) => {
        const changes = new RandomChanges(seededRandom(seed), true);
        for (let i = 0; i < CHANGES; i++) {
          const before = sequenceOf(world);
          while (sequenceOf(world) === before) applyTo(world, crowded(objectChange(changes)));
          // In every second round the index may be behind.
          if (i % 2 === 0) await indexed(app, world);
          for (const [k, ask] of searches(i).entries()) {
            const { status, text, headers } = await ask(app);
            assert.is(status, 200, text);
            kept.push({ i, k, text, at: headers.get(ENTRY)! });
            entries.add(headers.get(ENTRY)!);
          }
        }
        for (const { i, k, text, at } of kept) {
          const again = await searches(i)[k]!(app, at);
          assert.is(again.status, 200, again.text);
          assert.ok(again.text === text, `seed ${seed}, entry ${at}, question ${k}:\n${text}\n${again.text}`);
          assert.is(again.headers.get(ENTRY), at);
          if (!differing.has(k) && (await searches(i)[k]!(app)).text !== text) differing.add(k);
        }
      },
    );
    assert.ok(entries.size > CHANGES / 2, `only ${entries.size} entries`);
    assert.is(differing.size, searches(0).length, 'every question has another answer today');
  }
});

const NEAR = 'ra=150&dec=2&radius_arcsec=10&detail=position';

const FOUND = FACTS.flatMap(({ found = [] }) => found);

/** The ids that are found by position, and by each capability. */
async function found(app: TestApp, at?: number): Promise<string[][]> {
  const query = `detail=ids${at === undefined ? '' : `&at=${at}`}`;
  const cone = await app.result(`/api/cone?ra=150&dec=2&radius_arcsec=10&${query}`);
  const others = FOUND.map(({ path, body }) =>
    body === undefined ? app.get(`${path}${query}`) : app.post(`${path}${query}`, body, null),
  );
  return [cone, ...(await Promise.all(others)).map(({ body }) => body)].map(({ objects }: Json) =>
    objects.map(({ diaObjectId_str }: Json) => diaObjectId_str).sort(),
  );
}

test('an object is found from the entry that stored it on, beside one that was stored before [The state after an entry]', async () => {
  await withApp(fill, async (app, { writer }) => {
    await writer.ingest([delivery(6n)], NOW_US - 1e6);
    // The index is waited for.
    const all = (...ids: string[]) => Array(1 + FOUND.length).fill(ids);
    assert.equal(await found(app, 4), all('1', '5', '6'));
    assert.equal(await found(app, 3), all('1', '5'));
    assert.equal(await found(app, 2), all('1', '5'));
    assert.equal(await found(app, 1), all('1'));
    assert.equal(await found(app, 0), all());
  });
});

test('a removed object is found as before its removal, and where it was then [The state after an entry]', async () => {
  await withApp(fill, async (app, world) => {
    const { writer } = world;
    await writer.remove([ID], 'wrong');
    await writer.ingest([delivery(ID, { position: { ra: 10, dec: 20 } }), delivery(6n)], NOW_US);
    await writer.remove([6n, ID], 'wrong again');
    await writer.ingest([delivery(ID, { position: { ra: 150.0001, dec: 2 } })], NOW_US);
    await indexed(app, world);
    const at = async (entry: number) => (await found(app, entry)).map(ids => ids.join());
    const all = (near: string, anywhere = near) => [
      near,
      ...FOUND.map(({ isEverywhere }) => (isEverywhere ? anywhere : near)),
    ];
    assert.equal(await at(3), all('1,5'));
    assert.equal(await at(4), all('1'));
    assert.equal(await at(5), all('1,6', '1,5,6'));
    assert.equal(await at(6), all('1'));
    assert.equal(await at(7), all('1,5'));
    const separation = async (entry: number) =>
      (await app.result(`/api/cone?${NEAR}&at=${entry}`)).objects[1].separation_arcsec;
    assert.equal([await separation(3), (await separation(7)) > 0.1], [0, true]);
    const full = await app.get(`/api/cone?${NEAR.replace('position', 'full')}&at=3`);
    assert.match(full.text, /"catalog_source_id": "9"[\s\S]*"ruwe": 1\.5/);
  });
});

test('a cursor has the entry: at may be repeated but not changed; without the history the walk goes on by as_of [The state after an entry]', async () => {
  await withApp(fill, async (app, world) => {
    await indexed(app, world);
    const walks = [
      `/api/cone?${NEAR}&page_size=1`,
      ...FOUND.flatMap(({ path, body }) => (body ? [] : `${path}page_size=1`)),
    ];
    for (const path of walks) {
      const first = await app.get(path);
      const next = `${path}&cursor=${first.body.next_cursor}`;
      const at = first.headers.get(ENTRY);
      const second = await app.get(next);
      assert.is(second.headers.get(ENTRY), at);
      assert.is((await app.get(`${next}&at=${at}`)).text, second.text);
      const { status, body } = await app.get(`${next}&at=1`);
      assert.equal([status, body.param, body.message.includes(`must be ${at}, as in the cursor`)], [400, 'at', true]);
    }
    const firsts = await Promise.all(walks.map(path => app.get(path)));
    await world.writer.keepHistory(false);
    const objectsOf = ({ body }: Json) => body.objects ?? body.results[0].objects;
    for (const [i, path] of walks.entries()) {
      const first = firsts[i]!;
      const second = await app.get(`${path}&cursor=${first.body.next_cursor}`);
      assert.equal([second.status, second.headers.get(ENTRY)], [200, null]);
      assert.is(objectsOf(first).length + objectsOf(second).length, 2);
      const refused = await app.get(`${path}&cursor=${first.body.next_cursor}&at=3`);
      assert.equal([refused.status, refused.body.param], [400, 'at']);
    }
  });
});

const statusAt = async (app: TestApp, at: number) => (await app.result(`/api/objects/${ID}?at=${at}`)).status;

test('an object goes from unknown to pending to crossmatched, entry by entry [The state after an entry]', async () => {
  await withApp(fill, async app => {
    const statuses = [];
    for (const at of [0, 1, 2, 3]) statuses.push(await statusAt(app, at));
    assert.equal(statuses, ['not_in_service', 'not_in_service', 'crossmatch_pending', 'coincident_sources']);
  });
});

test('a removed object is still answered as before its removal, with its matches, also after it is delivered anew [The state after an entry]', async () => {
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

test('an entry that is not in the history is refused with its bounds [The state after an entry]', async () => {
  await withApp(fill, async (app, { store, writer }) => {
    const refused = async (at: number) => {
      const { status, body } = await app.get(`/api/objects/${ID}?at=${at}`);
      assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'at']);
      return body.message;
    };
    assert.is(await refused(-1), 'at must be at least 0 (-1 was given)');
    assert.is(await refused(4), 'at must be from 0 to 3 (got 4): the newest journal entry is 3');
    await writer.keepHistory(false);
    assert.is(store.databases.history.entryCount(), 0);
    assert.is(await refused(2), 'at needs a history, which is not kept here (NEARSKY_HISTORY): leave it out');
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
    // Two records, and the latest ingest time at the beginning and after the entry.
    assert.is(store.databases.history.entryCount(), 4);
    assert.is((await app.result('/api/objects/9?at=3')).status, 'not_in_service');
  });
});

test('the entries after a restored backup have the numbers of those that were lost [The state after an entry]', async () => {
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

test('an operation without a history refuses `at`, and so do names [The state after an entry]', async () => {
  await withApp(fill, async app => {
    for (const path of ['/api/tns/2026abc', '/api/recent-crossmatches?']) {
      const { status, body } = await app.get(`${path}${path.includes('?') ? '&' : '?'}at=1`);
      assert.equal([status, body.code, body.param], [400, 'unsupported_parameter', 'at'], path);
    }
    const name = { kind: 'tns', name: '2026abc' };
    const { status, body } = await app.post('/api/lookup', { inputs: [name, INPUTS[0]], at: 1 });
    assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'at']);
    const answer = await app.post('/api/lookup', { inputs: [name] });
    assert.equal([answer.status, answer.headers.get(ENTRY)], [200, null]);
  });
});

test.run();
