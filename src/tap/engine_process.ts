/** The process of the engine: answers the messages of the process that serves, one question at a time each. */
import { messageOf } from '../base/error_text.ts';
import { giveWay } from '../base/priority.ts';
import { Engine, type EngineOptions, type TapBegun } from './engine.ts';
import type { TapQuery } from './job.ts';

export type ToEngine = { readonly id: number } & (
  | { readonly kind: 'open'; readonly options: EngineOptions }
  | { readonly kind: 'begin'; readonly job: number; readonly query: TapQuery }
  | { readonly kind: 'part' | 'end'; readonly job: number }
);

export type FromEngine = { readonly id: number } & (
  | { readonly answer: TapBegun | Uint8Array | null }
  | { readonly error: string }
);

/** The memory that this process may have beside what the engine counts, MiB. */
const UNCOUNTED_MIB = 1536;
const LOOK_MS = 50;

/**
 * Ends this process once it has more memory than that, MiB. The engine bounds what it counts, and it does not count the
 * texts that it computes.
 */
export function boundMemory(mostMib: number): void {
  setInterval(() => {
    if (process.memoryUsage.rss() <= mostMib * 2 ** 20) return;
    process.stderr.write(`${JSON.stringify({ event: 'tap_engine_out_of_memory', mostMib })}\n`);
    process.kill(process.pid, 'SIGKILL');
  }, LOOK_MS).unref();
}

export function runEngine(): void {
  // Whoever asks in ADQL can wait; requests of microseconds cannot.
  giveWay();
  let engine: Promise<Engine> | undefined;
  const answer = async (message: ToEngine): Promise<TapBegun | Uint8Array | null> => {
    if (message.kind === 'open') {
      boundMemory(message.options.memoryMib + UNCOUNTED_MIB);
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
  process.on('message', (message: ToEngine) => {
    const { id } = message;
    answer(message).then(
      answered => process.send!({ id, answer: answered } satisfies FromEngine),
      error => process.send!({ id, error: messageOf(error) } satisfies FromEngine),
    );
  });
  // The process that serves has ended, however it did.
  process.on('disconnect', () => {
    void engine?.then(opened => opened.close()).finally(() => process.exit());
    if (!engine) process.exit();
  });
}
