/** How remote catalogs are read: plain data, so that threads can receive it. */

/**
 * The number of files of a remote catalog that are read at once. Several, because a host needs time to prepare each
 * answer.
 */
export const REMOTE_CONCURRENCY = 8;

export interface CacheOptions {
  readonly directory: string;
  readonly maxBytes: number;
  /** The bytes that the cache leaves free on its disk; 0 by default. */
  readonly leavesBytes?: number;
}

export interface RemoteOptions {
  /** The disk cache for bytes that were read; undefined disables the cache. */
  readonly cache?: CacheOptions | undefined;
  /** The time limit for all reading of a file after it is opened, including retries and pauses. */
  readonly fileTimeoutMs: number;
  /** The maximum number of bytes received for one file. */
  readonly maxFileBytes: number;
  /** Connections of one thread to one host at once. */
  readonly connections: number;
  /** The first pause before a request is repeated; each further pause is up to twice as long. */
  readonly pauseMs: number;
  /** Whether a catalog may redirect to another host at an address that is not public. */
  readonly privateRedirects: boolean;
  /** The name of the program, for the User-Agent header. */
  readonly userAgent: string;
  /** For messages: the name of the setting that allows redirects. */
  readonly names: { readonly privateRedirects: string };
}

export const REMOTE_DEFAULTS: RemoteOptions = {
  fileTimeoutMs: 600_000,
  maxFileBytes: 1 << 30,
  connections: 8,
  pauseMs: 250,
  privateRedirects: false,
  userAgent: 'hats',
  names: { privateRedirects: 'privateRedirects' },
};
