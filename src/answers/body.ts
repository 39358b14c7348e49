/** The body of an answer to a query: bytes, or a text with a character for each of them. Of JSON, which is ASCII, that is the JSON text. */
export type Body = string | Uint8Array<ArrayBuffer>;

export function bytesOf(body: Body): Uint8Array<ArrayBuffer> {
  return typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
}
