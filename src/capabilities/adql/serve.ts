import type { Config } from '../../core/config/config.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import type { BodyLimits } from '../../core/host.ts';
import { MAX_FIELD_BYTES } from '../vo/form.ts';
import { tapCapability } from './documents.ts';
import { maxUploadBytes } from './limits.ts';
import { canQuery } from './tap.ts';

export { limits } from './limits.ts';

export { tapOperations as documented } from './operations.ts';
export { tap as resources } from './tap_routes.ts';

/** Uploaded tables are written to disk as they arrive. */
export const bodies = (config: Config): readonly BodyLimits[] => [
  {
    path: TAP_PATH,
    maxBytes: Math.max(config.API_MAX_TABLE_MIB * 2 ** 20, maxUploadBytes(config)),
    maxHeldBytes: MAX_FIELD_BYTES,
  },
];

export const vosiCapability = (config: Config, base: string) => (canQuery(config) ? tapCapability(config, base) : '');
