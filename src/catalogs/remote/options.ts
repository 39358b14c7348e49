/** Settings for reading remote catalogs. They are plain data because threads receive them. */
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { CACHE_DIRECTORY } from '../../store/environment.ts';

/** Files of a remote catalog that are read at once: enough to use the time in which a host prepares its answers. */
export const REMOTE_CONCURRENCY = 8;

export interface RemoteOptions {
  /** The disk cache for bytes that were read; undefined disables the cache. */
  readonly cache?: { readonly directory: string; readonly maxBytes: number } | undefined;
  /** The limit for all reading of a file from its opening on, retries and pauses included. */
  readonly fileTimeoutMs: number;
  /** The most bytes that may be received for one file. */
  readonly maxFileBytes: number;
  /** Connections of one thread to one host at once. */
  readonly connections: number;
  /** The first pause before a request is repeated; each further pause is up to twice as long. */
  readonly pauseMs: number;
  /** Whether a catalog may redirect to another host at an address that is not public. */
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
