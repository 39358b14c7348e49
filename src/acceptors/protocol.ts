/** What the main thread and the further acceptors tell each other. All of it crosses a thread boundary by structured clone. */
import type { ProbeAnswer, PublishedGeneration } from '../../workers/tasks.ts';
import type { Config } from '../config.ts';
import type { Answer } from '../http/respond.ts';

/** What an acceptor is started with. */
export interface AcceptorData {
  readonly config: Config;
  /** Of all acceptors together. */
  readonly acceptors: number;
  /** Threads of its own query pool. */
  readonly workers: number;
  readonly host: string;
  readonly port: number;
  /** Of its `ThreadMetrics`. */
  readonly metrics: SharedArrayBuffer;
}

/** A request that only the main thread can answer, whole. */
export interface ForwardedRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case; of two the last counts. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** As much of it as may be read, and one byte more where there is more. */
  readonly body: ArrayBuffer | null;
  readonly peerAddress: string | undefined;
  readonly budgetMs: number;
}

/** What an acceptor may ask; each has an answer. */
export interface Calls {
  readonly probe: { readonly asked: null; readonly answer: ProbeAnswer | undefined };
  readonly forward: { readonly asked: ForwardedRequest; readonly answer: Answer };
}

export type CallName = keyof Calls;

export type ToMain =
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'drained' }
  /** The generation of that number is not of the database. */
  | { readonly kind: 'stale'; readonly number: number }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> | undefined }
  | { readonly kind: 'call'; readonly id: number; readonly name: CallName; readonly asked: Calls[CallName]['asked'] };

export type ToAcceptor =
  | { readonly kind: 'generation'; readonly generation: PublishedGeneration | undefined }
  | { readonly kind: 'drain'; readonly drainMs: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Calls[CallName]['answer'] };
