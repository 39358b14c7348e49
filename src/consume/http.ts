import type { Dispatcher } from 'undici';

/**
 * The body as text.
 * @throws Error when the body is longer than the limit; the rest of it is not read then
 */
export async function readText(response: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    length += chunk.length;
    if (length > maxBytes) throw new TooLongError(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** An answer that exceeds its limit of length. */
export class TooLongError extends Error {
  override name = 'TooLongError';
}
