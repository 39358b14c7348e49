/** The files of the registry: CSV, gzipped, in a zip. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPublicPath } from '../../../src/capabilities/names/public_file.ts';
import { RegistryError } from '../../../src/capabilities/names/registry_file.ts';
import { readPublicObjects } from '../../../src/capabilities/names/rows.ts';
import { checkMessage, orRefused, type Target } from '../target.ts';

const registry: Target = {
  name: 'tns',
  isText: false,
  inputs: 1500,
  start: async () => {
    const directory = mkdtempSync(join(tmpdir(), 'nearsky-fuzz-'));
    const file = join(directory, 'input');
    return {
      run: async input => {
        writeFileSync(file, input);
        await orRefused(async () => {
          const { batches } = await readPublicObjects(readPublicPath(file), 'input');
          for await (const { records, bad } of batches) {
            for (const { reason } of bad) checkMessage(reason);
            for (const { record } of records) {
              const { objid, name, ra, dec } = record;
              if (!Number.isSafeInteger(objid) || name === '' || !(ra >= 0 && ra <= 360) || !(Math.abs(dec) <= 90))
                throw new Error(JSON.stringify(record));
            }
          }
        }, RegistryError);
      },
      close: async () => rmSync(directory, { recursive: true }),
    };
  },
};

export const targets: readonly Target[] = [registry, { ...registry, name: 'tns_csv', isText: true }];
