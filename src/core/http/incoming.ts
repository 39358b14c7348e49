/** A request as the operations see it, independent of the server. The `Request` of the web platform is one. */

/** Names in any case. A header that was sent several times is one string, as in `Headers`. */
export interface IncomingHeaders {
  get(name: string): string | null;
  has(name: string): boolean;
  [Symbol.iterator](): Iterator<[name: string, value: string]>;
}

export type IncomingChunk = { readonly done: false; readonly value: Uint8Array } | { readonly done: true };

export interface IncomingBody {
  getReader(): {
    read(): Promise<IncomingChunk>;
    /** Discards the rest of the body. */
    cancel(): Promise<void>;
  };
}

export interface IncomingRequest {
  readonly method: string;
  /** Absolute and normalised, as by `URL`. */
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly body: IncomingBody | null;
  /**
   * Calls `act` when the client ends its connection.
   * @returns a function that cancels this
   */
  onGone?(act: () => void): () => void;
}

/** A request from its parts. */
export class PlainRequest implements IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly #body: Uint8Array | null;

  /** @param headers names in lower case; if a name occurs twice, its last header is used */
  constructor(method: string, url: string, headers: Iterable<readonly [string, string]>, body: Uint8Array | null) {
    this.method = method;
    this.url = url;
    this.headers = new PlainHeaders(new Map(headers));
    this.#body = body;
  }

  get body(): IncomingBody | null {
    const bytes = this.#body;
    if (!bytes) return null;
    const parts: IncomingChunk[] = [{ done: false, value: bytes }];
    return { getReader: () => ({ read: async () => parts.shift() ?? { done: true }, cancel: async () => {} }) };
  }
}

/** @see IncomingHeaders */
export class PlainHeaders implements IncomingHeaders {
  readonly #values: ReadonlyMap<string, string>;

  /** @param values by name in lower case */
  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  [Symbol.iterator](): Iterator<[string, string]> {
    return this.#values[Symbol.iterator]();
  }
}
