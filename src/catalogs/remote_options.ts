/** Converts the settings for remote catalogs to the options of the library. */
import { join } from 'node:path';
import { REMOTE_DEFAULTS, type RemoteOptions } from '@nearsky/hats';
import type { Config } from '../config/config.ts';
import { CACHE_DIRECTORY } from '../store/environment.ts';

/** The options without any settings. */
export const REMOTE_READING: RemoteOptions = {
  ...REMOTE_DEFAULTS,
  userAgent: 'nearsky',
  names: { maxFileBytes: 'CATALOG_FILE_MAX_BYTES', privateRedirects: 'CATALOG_PRIVATE_REDIRECTS to yes' },
};

export function remoteOptions(config: Config): RemoteOptions {
  const maxBytes = config.CATALOG_CACHE_MAX_BYTES;
  return {
    ...REMOTE_READING,
    cache: maxBytes > 0 ? { directory: join(config.NEARSKY_DATA, CACHE_DIRECTORY), maxBytes } : undefined,
    fileTimeoutMs: config.CATALOG_FILE_TIMEOUT_SECONDS * 1000,
    privateRedirects: config.CATALOG_PRIVATE_REDIRECTS,
    maxFileBytes: config.CATALOG_FILE_MAX_BYTES,
  };
}
