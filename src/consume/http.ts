import type { Dispatcher } from 'undici';

/** The body as text. @throws Error when it is longer than the limit; then it is not read to its end */
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

/** An answer that is longer than it may be. */
export class TooLongError extends Error {
  override name = 'TooLongError';
}
