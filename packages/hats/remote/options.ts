/** How remote catalogs are read: plain data, so that threads can receive it. */

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
  /** The name of the program, which requests tell the host. */
  readonly userAgent: string;
  /** For messages: what the program calls the limit, and what allows redirections. */
  readonly names: { readonly maxFileBytes: string; readonly privateRedirects: string };
}

export const REMOTE_DEFAULTS: RemoteOptions = {
  fileTimeoutMs: 600_000,
  maxFileBytes: 1 << 30,
  connections: 8,
  pauseMs: 250,
  privateRedirects: false,
  userAgent: 'hats',
  names: { maxFileBytes: 'maxFileBytes', privateRedirects: 'privateRedirects' },
};
