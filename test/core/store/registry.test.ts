import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dropLoad, publishLoad, tidyRegistry } from '../../../src/capabilities/names/registry_writer.ts';
import { findByName, publish, readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { failure, withStore } from './support.ts';

const test = suite('TNS registry');

const record = (objid: number, name: string, fields: Partial<TnsRecord> = {}): TnsRecord => {
  return { objid, name, namePrefix: 'AT', ra: 10, dec: -20, classification: null, redshift: null, ...fields };
};

test('a name is found whatever its case, the lowest objid of several, and no name that merely begins so', () =>
  withStore(async (store, writer) => {
    assert.is(readRegistryEpochUs(store.databases), null);
    assert.is(findByName(store.databases, '2026a'), undefined);
    const load = await writer.commit({ kind: 'begin_registry' });
    const full = record(256, '2026A', { namePrefix: 'SN', classification: 'SN Ia', redshift: 0.0123 });
    await writer.commit({
      kind: 'stage_registry',
      load,
      records: [record(300, '2026a'), full, record(2, '2026aa'), record(1, '2026a b')],
    });
    assert.is(findByName(store.databases, '2026a'), undefined);
    await publishLoad(writer, load, 1_790_000_000_000_001);
    assert.is(readRegistryEpochUs(store.databases), 1_790_000_000_000_001);
    assert.equal(findByName(store.databases, '2026a'), full);
    assert.is(findByName(store.databases, '2026aa')!.objid, 2);
    for (const absent of ['2026', '2026ab', '', '2026A'])
      assert.is(findByName(store.databases, absent), undefined, absent);
  }));

test('of two objects of one objid the first stays', () =>
  withStore(async (store, writer) => {
    const load = await writer.commit({ kind: 'begin_registry' });
    const outcomes = await writer.commit({
      kind: 'stage_registry',
      load,
      records: [record(1, '2026a'), record(1, '2026a'), record(1, '2026b')],
    });
    assert.equal(outcomes, ['added', 'unchanged', 'conflict']);
    assert.equal(await writer.commit({ kind: 'stage_registry', load, records: [record(1, '2026b')] }), ['conflict']);
    await publishLoad(writer, load, 0);
    assert.is(findByName(store.databases, '2026b'), undefined);
    assert.is(findByName(store.databases, '2026a')!.objid, 1);
  }));

test('a load replaces the registry in one step, and nothing of the former remains', () =>
  withStore(async (store, writer) => {
    const seen = () => [
      readRegistryEpochUs(store.databases),
      findByName(store.databases, '2026a')?.ra,
      findByName(store.databases, '2026b')?.ra,
    ];
    const first = await writer.commit({ kind: 'begin_registry' });
    await writer.commit({ kind: 'stage_registry', load: first, records: [record(1, '2026a', { ra: 1 })] });
    await publishLoad(writer, first, 100);
    const second = await writer.commit({ kind: 'begin_registry' });
    await writer.commit({ kind: 'stage_registry', load: second, records: [record(1, '2026b', { ra: 2 })] });
    assert.equal(seen(), [100, 1, undefined]);
    await publishLoad(writer, second, 200);
    assert.equal(seen(), [200, undefined, 2]);
    assert.is(store.databases.tns_objects.getKeysCount(), 1);
    assert.is(store.databases.tns_names.getKeysCount(), 1);
    const empty = await writer.commit({ kind: 'begin_registry' });
    await publishLoad(writer, empty, 50);
    assert.equal(seen(), [50, undefined, undefined]);
  }));

test('a load that was overtaken is refused, and one that broke off or is dropped leaves nothing', () =>
  withStore(async (store, writer) => {
    const [brokenOff, slow, fast] = [
      await writer.commit({ kind: 'begin_registry' }),
      await writer.commit({ kind: 'begin_registry' }),
      await writer.commit({ kind: 'begin_registry' }),
    ];
    for (const load of [brokenOff!, slow!, fast!])
      await writer.commit({ kind: 'stage_registry', load, records: [record(load, '2026a')] });
    await publishLoad(writer, fast!, 100);
    assert.match(
      (await failure(() => publishLoad(writer, slow!, 200))).message,
      /another load has replaced it meanwhile/,
    );
    assert.equal([readRegistryEpochUs(store.databases), findByName(store.databases, '2026a')?.objid], [100, fast]);
    const dropped = await writer.commit({ kind: 'begin_registry' });
    await writer.commit({ kind: 'stage_registry', load: dropped, records: [record(9, '2026c')] });
    await dropLoad(writer, dropped);
    assert.is(store.databases.tns_objects.getKeysCount(), 1);
    assert.is(store.databases.tns_names.getKeysCount(), 1);
  }));

test('what a killed process left of a former registry is tidied away, and a load that is being staged is not', () =>
  withStore(async (store, writer) => {
    await tidyRegistry(writer, store);
    const [first, second, third] = [1, 2, 3].map(() => writer.commit({ kind: 'begin_registry' }));
    for (const load of [await first!, await second!, await third!])
      await writer.commit({ kind: 'stage_registry', load, records: [record(load, `2026x${load}`)] });
    // The state of a load that was killed before it removed the first.
    store.databases.meta.transactionSync(() => {
      publish(store.databases, { load: 2, epochUs: 5, fileEpochUs: 5, validators: null });
    });
    const keys = () => [store.databases.tns_objects.getKeysCount(), store.databases.tns_names.getKeysCount()];
    assert.equal(keys(), [3, 3]);
    await tidyRegistry(writer, store);
    assert.equal(keys(), [2, 2]);
    await publishLoad(writer, 3, 6);
    assert.equal([findByName(store.databases, '2026x3')?.objid, ...keys()], [3, 1, 1]);
  }));

test('a large registry is removed in several commits', () =>
  withStore(async (store, writer) => {
    const first = await writer.commit({ kind: 'begin_registry' });
    const records = Array.from({ length: 30_000 }, (_, i) => record(i, `2026n${i}`));
    await writer.commit({ kind: 'stage_registry', load: first, records });
    await publishLoad(writer, first, 100);
    assert.is(findByName(store.databases, '2026n29999')!.objid, 29_999);
    const second = await writer.commit({ kind: 'begin_registry' });
    await publishLoad(writer, second, 200);
    assert.is(store.databases.tns_objects.getKeysCount(), 0);
    assert.is(store.databases.tns_names.getKeysCount(), 0);
  }));

test.run();
