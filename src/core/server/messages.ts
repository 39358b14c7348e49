/** The messages between the main thread and the serving threads. All are copied by structured clone. */

import type { Channel } from '../base/channel.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import type { Numbered, Reply } from '../pool/rpc.ts';

/** A request to the main thread. */
export interface Call {
  readonly kind: 'call';
  readonly channel: Channel<unknown, unknown>;
  readonly asked: unknown;
  readonly budgetMs: number;
}

export interface Failure {
  /** Whether the error is `Unavailable`; else it is an internal error. */
  readonly isRefusal: boolean;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
}

export type ToMain =
  /** @property operations the names of the operations that it counts, in order */
  | { readonly kind: 'listening'; readonly port: number; readonly operations: readonly string[] }
  /** The generation with that number does not belong to the database. */
  | { readonly kind: 'stale'; readonly number: number }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> | undefined }
  | { readonly kind: 'release'; readonly channel: Channel<unknown, unknown>; readonly slot: number }
  | (Call & Numbered);

export type ToServer =
  | { readonly kind: 'generation'; readonly generation: PublishedGeneration | undefined }
  | { readonly kind: 'drain'; readonly drainMs: number }
  | { readonly kind: 'reply'; readonly reply: Reply<Failure> };
