/** Checks a data directory; prints the number of faults and, where there is none, the digest of an export:  check_process.ts DIRECTORY */
import { createHash } from 'node:crypto';
import { checkDirectory } from '../../../src/capabilities/status/check.ts';
import { readRegistry, readRegistryEpochUs } from '../../../src/core/store/registry.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';

try {
  const { faults, more } = await checkDirectory(process.argv[2]!, () => {});
  const digest = faults.length === 0 ? await exported() : undefined;
  console.log(JSON.stringify({ faults: faults.length + more, digest, first: faults[0] }));
} catch (error) {
  if (!(error instanceof StoreError)) throw error;
  console.log(JSON.stringify({ faults: 1, first: error.message }));
}

async function exported(): Promise<string> {
  const store = openStore(process.argv[2]!, 'read');
  const hash = createHash('sha256');
  const add = (value: unknown) =>
    hash.update(JSON.stringify(value, (_key, member) => (typeof member === 'bigint' ? `${member}n` : member)));
  for (const object of store.objects()) {
    const sets = object.records.map(record => store.provenanceSet(record.provenanceSet));
    add([object, sets, store.getSources(object.diaObjectId)]);
  }
  for (const record of readRegistry(store.databases)) add(record);
  add(readRegistryEpochUs(store.databases));
  await store.close();
  return hash.digest('hex');
}
