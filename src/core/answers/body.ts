/**
 * The body of an answer: bytes, or a string with one character per byte. JSON is ASCII, so its string is the JSON text.
 */
export type Body = string | Uint8Array<ArrayBuffer>;

/** The answer to a query. */
export interface QueryAnswer {
  readonly body: Body;
  /** The journal entry whose state the answer is from; undefined if it may be from several states. */
  readonly entry: number | undefined;
}

export function bytesOf(body: Body): Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
}

/** A body that is written in parts, as long as its client is connected. */
export interface StreamedBody {
  /** Whether the parts have no end. Then a client that only stops sending counts as one that disconnects. */
  readonly isEndless?: boolean;
  /** Called once, after the headers were sent. The first part may then be written. */
  begin(client: StreamClient): void;
  /** Called after a part was sent. The next part may then be written. */
  written(): void;
  /** Called when the client disconnects, or its connection is closed. */
  gone(): void;
}

export interface StreamClient {
  /** Sends one part. Wait for `written` before you send the next. */
  write(bytes: Uint8Array<ArrayBuffer>): void;
  /** Ends the answer at once. */
  end(): void;
  /** Closes the connection, which shows the client that the answer is incomplete. */
  fail(): void;
}
