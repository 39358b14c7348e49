/** A reader of server-sent events, by the words of the HTML standard (9.2.6, Interpreting an event stream), and nothing of ours. */
import { eventually } from '../directory.ts';

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
