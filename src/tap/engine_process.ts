/** The process of the engine: answers the messages of the process that serves, one question at a time each. */
import { traceOf } from '../base/error_text.ts';
import { giveWay } from '../base/priority.ts';
import { Engine, type EngineOptions, type TapBegun } from './engine.ts';
import { isFatal, isOutOfMemory, JobFailure, Starved } from './engine_errors.ts';
import type { TapQuery } from './job.ts';

export type ToEngine = { readonly id: number } & (
  | { readonly kind: 'open'; readonly options: EngineOptions }
  | { readonly kind: 'begin'; readonly job: number; readonly query: TapQuery }
  | { readonly kind: 'part' | 'end'; readonly job: number }
);

export type FromEngine = { readonly id: number } & (
  | { readonly answer: TapBegun | Uint8Array | null }
  | { readonly error: string }
  /** The query found no memory. */
  | { readonly isStarved: true }
);

export function runEngine(): void {
  // Whoever asks in ADQL can wait; requests of microseconds cannot.
  giveWay();
  let engine: Promise<Engine> | undefined;
  const answer = async (message: ToEngine): Promise<TapBegun | Uint8Array | null> => {
    if (message.kind === 'open') {
      engine = Engine.open(message.options);
      await engine;
      return null;
    }
    const opened = await engine!;
    if (message.kind === 'begin') return await opened.begin(message.job, message.query);
    if (message.kind === 'part') return await opened.part(message.job);
    opened.end(message.job);
    return null;
  };
  const say = (message: FromEngine) => process.send!(message);
  process.on('message', (message: ToEngine) => {
    const { id } = message;
    answer(message)
      .then(answered => say({ id, answer: answered }))
      .catch(error => say(failure(id, error)));
  });
  // The process that serves has ended, however it did.
  process.on('disconnect', () => {
    const end = (isClosed: boolean) => (isClosed ? process.exit() : process.kill(process.pid, 'SIGKILL'));
    if (engine)
      engine.then(
        opened => end(opened.close()),
        () => end(true),
      );
    else end(true);
  });
}

function failure(id: number, error: unknown): FromEngine {
  if (error instanceof Starved || isOutOfMemory(error)) return { id, isStarved: true };
  if (error instanceof JobFailure) return { id, error: error.message };
  process.stderr.write(`${JSON.stringify({ event: 'tap_engine_failed', error: traceOf(error) })}\n`);
  // The next query begins another process, as do those that run in this one.
  if (isFatal(error)) process.exit(1);
  return { id, error: 'the engine of queries has a fault: it is logged' };
}
