/** A request as the operations see it, whatever it came in by. The `Request` of the web platform is one. */

/** Names in any spelling; a header that was sent several times is one text, as in `Headers`. */
export interface IncomingHeaders {
  get(name: string): string | null;
  has(name: string): boolean;
}

export type IncomingChunk = { readonly done: false; readonly value: Uint8Array } | { readonly done: true };

export interface IncomingBody {
  getReader(): {
    read(): Promise<IncomingChunk>;
    /** Whatever is still to come is not wanted. */
    cancel(): Promise<void>;
  };
}

export interface IncomingRequest {
  readonly method: string;
  /** Absolute and normalised, as `URL` would write it. */
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly body: IncomingBody | null;
}
