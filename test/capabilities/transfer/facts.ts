import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { nearsky } from '../../commands/in_process.ts';
import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  reader: {
    args: results => ['export', join(results, 'lines.ndjson')],
    check: async (results, dataDir) => {
      await nearsky('export', join(results, 'writable.ndjson'), '--data', dataDir);
      const lines = (name: string) => readFileSync(join(results, name), 'utf8');
      assert.is(lines('lines.ndjson'), lines('writable.ndjson'));
    },
  },
};
