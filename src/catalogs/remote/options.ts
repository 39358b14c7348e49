/** How remote catalogs are read: plain data, as it is handed to threads. */
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { CACHE_DIRECTORY } from '../../store/environment.ts';

export interface RemoteOptions {
  /** Where what was read is kept for the next time; undefined: nowhere. */
  readonly cache?: { readonly directory: string; readonly maxBytes: number } | undefined;
  /** For all reading of a file from opening it, retries and pauses included. */
  readonly fileTimeoutMs: number;
  /** What may be received of one file. */
  readonly maxFileBytes: number;
  /** At once to one host, by one thread. */
  readonly connections: number;
  /** The first pause before a request is sent again; each further one is up to twice as long. */
  readonly pauseMs: number;
  /** Whether a catalog may lead on to another host at an address that is not public. */
  readonly privateRedirects: boolean;
}

export const REMOTE_DEFAULTS: RemoteOptions = {
  fileTimeoutMs: 600_000,
  maxFileBytes: 1 << 30,
  connections: 8,
  pauseMs: 250,
  privateRedirects: false,
};

export function remoteOptions(config: Config): RemoteOptions {
  const maxBytes = config.CATALOG_CACHE_MAX_BYTES;
  return {
    ...REMOTE_DEFAULTS,
    cache: maxBytes > 0 ? { directory: join(config.NEARSKY_DATA, CACHE_DIRECTORY), maxBytes } : undefined,
    fileTimeoutMs: config.CATALOG_FILE_TIMEOUT_SECONDS * 1000,
    privateRedirects: config.CATALOG_PRIVATE_REDIRECTS,
    maxFileBytes: config.CATALOG_FILE_MAX_BYTES,
  };
}
