/** Claims on pending objects: of this process, of others, and of others that were killed. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { claimedIds } from '../../../src/core/store/claims.ts';
import { decodeClaim, encodeClaim } from '../../../src/core/store/records.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { startScript } from './script.ts';
import { delivery, provenance, result, withStore } from './support.ts';

const test = suite('store/claims');
const ids = Array.from({ length: 10 }, (_, i) => 313_761_043_604_045_880n + BigInt(i));

async function ingest(writer: Writer): Promise<void> {
  await writer.ingest(
    ids.map(id => delivery(id)),
    1_000_000,
  );
}

const claims = (store: Store) => store.databases.claims.getKeysCount();

test('an object is claimed once, until its claim is released or it is crossmatched', () =>
  withStore(async (store, writer) => {
    await ingest(writer);
    const first = await writer.claim(ids.slice(0, 4));
    assert.equal([first.ids, first.busy], [ids.slice(0, 4), []]);
    const second = await writer.claim([...ids.slice(2, 6), 7n]);
    assert.equal([second.ids, second.busy], [ids.slice(4, 6), ids.slice(2, 4)], 'an unknown object is neither');
    const all = { ...result(ids[0]!), catalogOutcomes: [['gaia_dr3', 'searched'] as const] };
    await writer.recordCrossmatches([all], provenance, 2_000_000);
    await writer.dropClaim(first);
    const third = await writer.claim(ids);
    assert.equal([third.ids, third.busy], [[...ids.slice(1, 4), ...ids.slice(6)], ids.slice(4, 6)]);
    await writer.dropClaim(second);
    await writer.dropClaim(third);
    assert.is(claims(store), 0);
    const none = await writer.claim([ids[0]!]);
    assert.equal([none.ids, none.busy, claims(store)], [[], [], 0], 'it is not pending');
  }));

test('a claim of another process counts until that process is killed', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const writer = new Writer(store);
    await ingest(writer);
    const other = startScript(new URL('claim_process.ts', import.meta.url), [directory]);
    try {
      while (other.output() === '') await new Promise(resolve => setTimeout(resolve, 5));
      assert.is(other.output(), '5\n');
      const beside = await writer.claim(ids);
      assert.equal([beside.ids, beside.busy], [ids.slice(5), ids.slice(0, 5)]);
      await writer.dropClaim(beside);
    } finally {
      other.child.kill('SIGKILL');
      await other.ended;
    }
    const after = await writer.claim(ids);
    assert.equal([after.ids, after.busy, claims(store)], [ids, [], 1]);
    await store.close();
  }));

test('a claim of a former process that had the same process id does not count', () =>
  withStore(async (store, writer) => {
    await ingest(writer);
    const claim = encodeClaim({ pid: process.pid, ids });
    store.databases.claims.transactionSync(() => {
      store.databases.claims.put(new TextEncoder().encode('a claim of a former life'), claim);
    });
    assert.equal((await writer.claim(ids)).ids, ids);
    assert.is(claims(store), 1);
  }));

test('it is the claim of one process at a time, until that is killed', () =>
  withStore(async (store, writer, directory) => {
    const other = startScript(new URL('exclusive_process.ts', import.meta.url), [directory]);
    try {
      await eventually('the other has its turn', async () => other.output() !== '' || undefined);
      assert.is(await writer.claimExclusively('refresh the TNS registry'), undefined);
      assert.is(claimedIds(store.databases, store.livePids()).size, 0);
    } finally {
      other.child.kill('SIGKILL');
      await other.ended;
    }
    const claim = await writer.claimExclusively('refresh the TNS registry');
    assert.ok(claim);
    assert.is(await new Writer(store).claimExclusively('refresh the TNS registry'), undefined);
    await writer.dropClaim(claim);
    assert.is(store.databases.claims.getKeysCount(), 0);
  }));

test('the bytes of a claim', () => {
  const claim = { pid: 4_194_304, ids: [0n, 1n, 2n ** 53n + 1n, 2n ** 63n - 1n] };
  assert.equal(decodeClaim(encodeClaim(claim)), claim);
  const passed = { pid: 1, ids: [], outcome: { value: [2n ** 63n - 1n, null] } };
  assert.equal(decodeClaim(encodeClaim(passed)), passed);
});

test.run();
