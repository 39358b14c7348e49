import type { PartOf } from '../../core/host.ts';
import { CatalogReader } from '../crossmatch/catalog_reader.ts';
import { SOURCES } from './channel.ts';
import type { SourcesTask } from './near_task.ts';

export const part: PartOf = ({ config, log, admission, answer }) => {
  const reader = new CatalogReader(config, log, admission, {
    // Each takes about 100 ms.
    maxWaiting: 64,
    isFull: 'too many searches of the catalogs are waiting',
    tooLong: 'the catalogs take too long to read',
    failed: 'sources_failed',
  });
  answer(SOURCES, ({ client, ...asked }, budget) => {
    const task: SourcesTask = { module: 'src/capabilities/sources/near_task', kind: 'sources', ...asked };
    return reader.run(client, task, budget);
  });
  return reader;
};
