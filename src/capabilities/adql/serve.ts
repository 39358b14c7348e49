import type { Config } from '../../core/config/config.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import type { BodyLimits } from '../../core/host.ts';
import { MAX_FIELD_BYTES } from '../vo/form.ts';
import { maxWaitSeconds } from './adql_query.ts';
import { tapCapability } from './documents.ts';
import { maxUploadBytes } from './limits.ts';
import { canQuery } from './tap.ts';

export { limits } from './limits.ts';

export { tapOperations as documented } from './operations.ts';
export { tap as resources } from './tap_routes.ts';

/** The time for sending an error when the time for a query has passed. */
const ANSWERED_SECONDS = 10;

/** Uploaded tables are written to disk as they arrive. */
export const bodies = (config: Config): readonly BodyLimits[] => [
  {
    path: TAP_PATH,
    maxBytes: Math.max(config.API_MAX_TABLE_MIB * 2 ** 20, maxUploadBytes(config)),
    maxHeldBytes: MAX_FIELD_BYTES,
    // Otherwise the connection would be reset before an answer that comes at the last moment.
    maxWaitSeconds: maxWaitSeconds(config) + ANSWERED_SECONDS,
  },
];

export const vosiCapability = (config: Config, base: string) => (canQuery(config) ? tapCapability(config, base) : '');
