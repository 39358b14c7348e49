/** The process of the engine. It answers messages of the serving process, one request at a time for each query. */
import { traceOf } from '../../core/base/error_text.ts';
import { type Numbered, type Reply, reply } from '../../core/pool/rpc.ts';
import type { Requester } from './earlier_states.ts';
import type { TapState } from './edition.ts';
import { Engine, type EngineBegun, type EngineOptions } from './engine.ts';
import { isFatal, JobFailure, Starved } from './engine_errors.ts';
import type { EngineQuery } from './query_run.ts';
import type { PartRead } from './query_sources.ts';

export type EngineRequest =
  | { readonly kind: 'open'; readonly options: EngineOptions }
  | { readonly kind: 'begin'; readonly job: number; readonly query: EngineQuery; readonly requester: Requester }
  /** Continues a query after parts of catalogs have been read. */
  | { readonly kind: 'resume'; readonly job: number; readonly directory: string; readonly read: readonly PartRead[] }
  | { readonly kind: 'part' | 'end'; readonly job: number }
  /** Ends the process, if it is idle. */
  | { readonly kind: 'leave' };

export type EngineAnswer = EngineBegun | Uint8Array | null;

/** A message that answers no request: it reports the present state of the tables. */
export interface Refreshed {
  readonly state: TapState;
}

/** The message of an error; null if other queries may hold the memory. */
export type EngineFailure = string | null;

export function runProcess(): void {
  let engine: Promise<Engine> | undefined;
  const answer = async (message: EngineRequest): Promise<EngineAnswer> => {
    if (message.kind === 'open') {
      engine = Engine.open(message.options);
      (await engine).onRefresh = state => say({ state });
      return null;
    }
    const opened = await engine!;
    if (message.kind === 'begin') return await opened.begin(message.job, message.query, message.requester);
    if (message.kind === 'resume') return await opened.resume(message.job, message.directory, message.read);
    if (message.kind === 'part') return await opened.part(message.job);
    if (message.kind === 'end') await opened.end(message.job);
    else if (await opened.settle()) end(opened.close());
    return null;
  };
  const end = (isClosed: boolean) => (isClosed ? process.exit() : process.kill(process.pid, 'SIGKILL'));
  // If sending fails, the serving process has ended, which `disconnect` reports.
  const say = (message: Reply<EngineFailure> | Refreshed) =>
    process.connected && process.send!(message, undefined, undefined, () => {});
  process.on(
    'message',
    (message: EngineRequest & Numbered) => void reply(message, () => answer(message), say, failureOf),
  );
  // The serving process has ended, for whatever reason.
  process.on('disconnect', () => {
    if (engine)
      engine.then(
        opened => end(opened.close()),
        () => end(true),
      );
    else end(true);
  });
}

function failureOf(error: unknown): EngineFailure {
  if (error instanceof Starved) return null;
  if (error instanceof JobFailure) return error.message;
  process.stderr.write(`${JSON.stringify({ event: 'tap_engine_failed', error: traceOf(error) })}\n`);
  // The next query starts a new process, and the queries of this process run again there.
  if (isFatal(error)) process.exit(1);
  return 'the engine of queries had an internal error, which is logged';
}
