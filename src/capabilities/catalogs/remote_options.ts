/** Converts the settings for remote catalogs to the options of the library. */
import { join } from 'node:path';
import { REMOTE_DEFAULTS, type RemoteOptions } from '@nearsky/hats';
import { reservedBytesAt } from '../../core/base/disk.ts';
import { isThere } from '../../core/base/files.ts';
import type { Config } from '../../core/config/config.ts';
import { CACHE_DIRECTORY } from '../../core/store/data_files.ts';

/** The options without any settings. */
export const REMOTE_READING: RemoteOptions = {
  ...REMOTE_DEFAULTS,
  userAgent: 'nearsky',
  names: { privateRedirects: 'CATALOG_PRIVATE_REDIRECTS to yes' },
};

export function remoteOptions(config: Config): RemoteOptions {
  const { NEARSKY_DATA, CATALOG_CACHE_MAX_BYTES: maxBytes } = config;
  const directory = join(NEARSKY_DATA, CACHE_DIRECTORY);
  const leavesBytes = isThere(NEARSKY_DATA) ? reservedBytesAt(NEARSKY_DATA) : 0;
  return {
    ...REMOTE_READING,
    cache: maxBytes > 0 ? { directory, maxBytes, leavesBytes } : undefined,
    privateRedirects: config.CATALOG_PRIVATE_REDIRECTS,
  };
}
