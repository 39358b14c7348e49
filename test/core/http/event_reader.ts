/** A reader of server-sent events, by the words of the HTML standard (9.2.6, Interpreting an event stream), and nothing of ours. */
import * as assert from 'uvu/assert';
import { eventually } from '../../directory.ts';
import type { TestApp } from './support.ts';

export interface ReadEvent {
  readonly id: string;
  readonly data: string;
}

export class EventReader {
  readonly events: ReadEvent[] = [];
  lastId = '';
  retryMs: number | undefined;
  comments = 0;
  isEnded = false;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];
  #id = '';

  /** Reads a response until it ends. */
  static of(response: Response): EventReader {
    const reader = new EventReader();
    void (async () => {
      try {
        for await (const chunk of response.body!) reader.take(chunk);
      } catch {
        // The connection has ended.
      }
      reader.isEnded = true;
    })();
    return reader;
  }

  take(chunk: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop()!;
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/.exec(line)!;
    if (line === '') {
      this.lastId = this.#id;
      if (this.#data.length > 0) this.events.push({ id: this.lastId, data: this.#data.join('\n') });
      this.#data = [];
    } else if (name === '') this.comments++;
    else if (name === 'data') this.#data.push(value);
    else if (name === 'id') this.#id = value;
    else if (name === 'retry') this.retryMs = Number(value);
  }

  get texts(): string[] {
    return this.events.map(({ data }) => data);
  }

  async until(what: string, isSo: (reader: this) => boolean): Promise<this> {
    await eventually(what, async () => isSo(this) || undefined);
    return this;
  }
}

/** Reads so many events of a stream, and fails if another one follows at once. */
export async function readEvents(
  { app }: TestApp,
  path: string,
  count: number,
  init: RequestInit = {},
): Promise<EventReader> {
  const response = await app.fetch(new Request(`http://nearsky.test${path}`, init));
  assert.is(response.status, 200, path);
  const parts = response.body!.getReader();
  const reader = new EventReader();
  const gone = (async () => {
    for (let part = await parts.read(); !part.done; part = await parts.read()) reader.take(part.value);
  })();
  await reader.until(`${count} events`, ({ events }) => events.length >= count);
  await new Promise(resolve => setTimeout(resolve, 30));
  await parts.cancel();
  await gone;
  assert.is(reader.events.length, count, path);
  return reader;
}
