/**
 * The body of an answer: bytes, or a string with one character per byte. JSON is ASCII, so its string is the JSON text.
 */
export type Body = string | Uint8Array<ArrayBuffer>;

export function bytesOf(body: Body): Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
}

/** A body that is written part by part, until its client disconnects. */
export interface StreamedBody {
  /** The headers are sent, and the first part may be written. Called once. */
  begin(client: StreamClient): void;
  /** The last part is sent, and the next one may be written. */
  written(): void;
  /** The client disconnected, or its connection was ended. */
  gone(): void;
}

export interface StreamClient {
  /** Sends one part. The next one must wait for `written`. */
  write(bytes: Uint8Array<ArrayBuffer>): void;
  /** Ends the answer at once. */
  end(): void;
  /** Ends the connection, so that the client knows that the answer is incomplete. */
  fail(): void;
}
