/** The randomised tests of `npm test` that run few cases there, with more; these variables do the same for one file. */
import { existsSync } from 'node:fs';
import { runPoolsHere } from './core/pool/calling_thread.ts';
import { whyNodeOnly } from './node_only.ts';
import { isDeno } from './runtime.ts';

const MORE = {
  'adql/engine': { TEST_JOIN_ROWS: '400' },
  'adql/functions': { TEST_PIXEL_STEP: '1' },
  'astrotables/decimal': { TEST_DECIMALS: '100000' },
  'capabilities/adql/rows_at_hand': { TEST_PLACES: '4' },
  'capabilities/crossmatch/crossmatcher': { TEST_SKIES: '2' },
  'capabilities/crossmatch/positions': { TEST_CROWD: '10' },
  'capabilities/sky_map/sky_map': { TEST_STATES: '30' },
  'capabilities/transfer/prepare': { TEST_STORES: '300' },
  'capabilities/transfer/roundtrip': { TEST_ROUND_TRIPS: '40' },
  'capabilities/sample/list': { TEST_SAMPLE_ROWS: '5000' },
  'capabilities/sample/report': { TEST_DISPLACEMENTS: '1000' },
  'capabilities/table_match/earlier': { TEST_EARLIER_ROUNDS: '4' },
  'core/contract/hostile': { TEST_HOSTILE: '4000' },
  'core/http/fairness': { TEST_PAGE_OBJECTS: '4000' },
  'core/http/history': { TEST_CHANGES: '50' },
  'core/http/msgpack': { TEST_TOGETHER: '40' },
  'core/server/plain_gets': { TEST_REQUESTS: '20000' },
  'hats/range_cache': { TEST_READS: '2000' },
  'index/area': { TEST_AREAS: '40' },
  'index/sky_index': { TEST_CONES: '400' },
};

// Pools run in this thread, as in `npm test`.
runPoolsHere();
for (const [file, variables] of Object.entries(MORE)) {
  const module = new URL(`./${file}.test.ts`, import.meta.url);
  // A capability may have been removed.
  if (!existsSync(module) || (isDeno && whyNodeOnly(`${file}.test.ts`))) continue;
  Object.assign(process.env, variables);
  await import(module.href);
}
