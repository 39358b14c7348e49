/** Processes that are killed and restarted. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { random } from './kill_support.ts';
import { type Running, send, start } from './support.ts';

export interface Command {
  readonly args: readonly string[];
  readonly variables: Record<string, string>;
  /** Called with the output. */
  readonly onOutput?: (text: string) => void;
  /** The exit status if nobody kills it; if undefined, it must not end by itself. */
  readonly onDone?: () => void;
  /** Whether it may fail with that message on standard error; it is then restarted. */
  readonly mayFail?: (stderr: string) => boolean;
  /** The longest pause before the next one, milliseconds. */
  readonly pauseMs?: number;
}

/** A command that is restarted again and again. */
export class Kept {
  readonly #next: () => Command;
  #running: Running | undefined;
  #isHeld = false;
  /** Whether it ends by itself. */
  #isEnding = false;
  #isStopping = false;
  /** The reason why it cannot continue. */
  failure: unknown;
  readonly ended: Promise<void>;

  constructor(next: () => Command) {
    this.#next = next;
    this.ended = this.#run().catch(error => {
      this.failure = error;
    });
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const { args, variables, onOutput, onDone, mayFail, pauseMs = 200 } = this.#next();
      this.#isEnding = onDone !== undefined;
      this.#running = start(args, variables);
      this.#running.child.stdout?.on('data', data => onOutput?.(String(data)));
      const { code, signal, stderr } = await this.#running.finished;
      this.#running = undefined;
      if (signal === 'SIGKILL') while (this.#isHeld) await sleep(5);
      else {
        // The signal came before the process listened to it.
        if (signal === 'SIGTERM' && this.#isStopping) return;
        if (code !== 0 && !mayFail?.(stderr)) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`);
        assert.ok(code !== 0 || onDone || this.#isStopping, `${args.join(' ')} ended: ${stderr}`);
        if (code === 0) onDone?.();
        await sleep(pauseMs * random());
      }
    }
  }

  /** Kills it and prevents a restart. Returns whether it was running. */
  async kill(): Promise<boolean> {
    const running = this.#running;
    if (!running) return false;
    this.#isHeld = true;
    send(running.child, 'SIGKILL');
    return (await running.finished).signal === 'SIGKILL';
  }

  release(): void {
    this.#isHeld = false;
  }

  /** Starts it no more. */
  abandon(): void {
    this.#isStopping = true;
    this.#isHeld = false;
  }

  /** Lets it run to its end; endless commands are told to end. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#running && !this.#isEnding) send(this.#running.child, 'SIGTERM');
    await this.ended;
    if (this.failure) throw this.failure;
  }
}
