import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { nearsky } from '../../commands/in_process.ts';
import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  reader: {
    args: results => ['backup', join(results, 'backup')],
    check: async (results, dataDir) => {
      const [copy, own] = [join(results, 'backup'), dataDir].map(data => nearsky('check', '--data', data));
      assert.is((await copy!).objects, (await own!).objects);
    },
  },
};
