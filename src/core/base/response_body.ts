import type { Dispatcher } from 'undici';

type Response = Pick<Dispatcher.ResponseData, 'body'>;

/**
 * The bytes of a body.
 * @throws TooLongError if the body is longer than the limit; the rest is then not read
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
 * @throws TooLongError like `readBody`
 */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  return (await readBody(response, maxBytes)).toString();
}

/** An answer that exceeds its maximum length. */
export class TooLongError extends Error {
  override name = 'TooLongError';
}
