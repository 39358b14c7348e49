/** Lines of an export into a store: every line that is read is counted, once. */

import { RejectLog } from '../../../src/capabilities/ingest/rejects.ts';
import { Importer } from '../../../src/capabilities/transfer/importer.ts';
import { checkMessage, type Target } from '../../fuzz/target.ts';
import { linesOf, withStore } from '../../fuzz/targets/stored.ts';

const lines: Target = {
  name: 'import',
  isText: true,
  inputs: 800,
  start: () =>
    withStore(async (input, { directory, writer, config, file }) => {
      if (input[0] === 0x1f) return;
      const rejects = new RejectLog(config, 'import');
      let told = 0;
      const importer = new Importer({
        dataDir: directory,
        writer,
        rejects,
        onReject: ({ reason }) => {
          told++;
          checkMessage(reason);
        },
        onBatch: () => {},
      });
      try {
        await importer.importFile(file);
        await importer.finish();
      } finally {
        await importer.close();
        rejects.close();
      }
      const { read, types, rejected } = importer.counts;
      const known = Object.values(types).reduce((sum, { imported, unchanged }) => sum + imported + unchanged, 0);
      if (read !== known + rejected || rejected !== told)
        throw new Error(`${read} read, ${known} known, ${rejected} rejected, ${told} told`);
      if (read !== linesOf(input)) throw new Error(`${read} lines read of ${linesOf(input)}`);
    }),
};

export const targets: readonly Target[] = [lines];
