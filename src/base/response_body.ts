import type { Dispatcher } from 'undici';

type Response = Pick<Dispatcher.ResponseData, 'body'>;

/**
 * The bytes of a body.
 * @throws TooLongError when the body is longer than the limit; the rest of it is not read then
 */
export async function readBody({ body }: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw new TooLongError(`the answer is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The body as text.
 * @throws TooLongError as `readBody`
 */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  return (await readBody(response, maxBytes)).toString();
}

/** An answer that exceeds its limit of length. */
export class TooLongError extends Error {
  override name = 'TooLongError';
}
