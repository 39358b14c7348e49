/**
 * Compresses answers for clients that accept that (RFC 9110, section 12.5.3). The runtime's own threads do the work.
 */
import { promisify } from 'node:util';
import { constants, gzip, zstdCompress } from 'node:zlib';
import { replace } from '../answers/answer_memory.ts';
import type { Body } from '../answers/body.ts';
import { weightsOf } from './accept.ts';
import type { IncomingHeaders } from './incoming.ts';
import type { Answer } from './respond.ts';

export type Coding = 'zstd' | 'gzip';

/**
 * Smaller bodies are not compressed: compressing 5 kB takes 75 µs, more than most requests take in total, and up to 14
 * kB arrive within the first round trip in any case.
 */
const MIN_BYTES = 8192;
/** The maximum number of bodies that are compressed at once. Beyond it, bodies are sent uncompressed. */
const MAX_RUNNING = 16;

type Compress = (bytes: Uint8Array) => Promise<Buffer<ArrayBuffer>>;

/** The codings in order of preference, each with a function that compresses at a level. */
function compressors(levels: Readonly<Record<Coding, number>>): ReadonlyMap<Coding, Compress> {
  const params = { [constants.ZSTD_c_compressionLevel]: levels.zstd };
  return new Map<Coding, Compress>([
    [
      'zstd',
      bytes =>
        promisify(zstdCompress)(bytes, { chunkSize: chunkSizeOf(bytes), params }) as Promise<Buffer<ArrayBuffer>>,
    ],
    [
      'gzip',
      bytes =>
        promisify(gzip)(bytes, { chunkSize: chunkSizeOf(bytes), level: levels.gzip }) as Promise<Buffer<ArrayBuffer>>,
    ],
  ]);
}

/** At these levels 55 kB of objects become 7.3 kB in 0.1 ms with zstd, and 8.8 kB in 0.3 ms with gzip. */
const FAST = compressors({ zstd: 1, gzip: 4 });
/** For bodies that do not change while the service runs. zstd levels above 17 make them no smaller. */
const SMALL = compressors({ zstd: 17, gzip: 9 });

let running = 0;

type Forms = Map<Coding, Promise<Buffer<ArrayBuffer>>>;

/** The compressed forms of shared bodies, for as long as the bodies are in use. */
const formsOf = new WeakMap<Uint8Array, Forms>();

/** Marks a body that every client gets. It is compressed once in each coding, at the first request for that coding. */
export function sharedBody<T extends Uint8Array>(body: T): T {
  formsOf.set(body, new Map());
  return body;
}

/** Large enough for nearly any result, because a second chunk would have to queue for a thread again. */
function chunkSizeOf(bytes: Uint8Array): number {
  return Math.max(4096, bytes.length >> 2);
}

/** The answer in the coding that the client prefers; a small answer is returned at once, uncompressed. */
export function compressed(answer: Answer, headers: IncomingHeaders): Answer | Promise<Answer> {
  const { body } = answer;
  return body === null || body.length < MIN_BYTES || answer.headers['Content-Encoding'] !== undefined
    ? answer
    : compress(answer, body, headers.get('Accept-Encoding'));
}

/** Like `compressed`, but for a body of any size. */
export async function compress(answer: Answer, body: Body, acceptEncoding: string | null): Promise<Answer> {
  const plain = { ...answer, headers: { ...answer.headers, Vary: withCoding(answer.headers.Vary) } };
  const coding = acceptEncoding === null ? undefined : preferredCoding(acceptEncoding);
  const forms = typeof body === 'string' ? undefined : formsOf.get(body);
  if (!coding || (!forms && running >= MAX_RUNNING)) return plain;
  const compact = await (forms ? compressOnce(body as Uint8Array, forms, coding) : compressNow(body, coding));
  return { ...plain, body: compact, headers: { ...plain.headers, 'Content-Encoding': coding } };
}

function compressOnce(body: Uint8Array, forms: Forms, coding: Coding): Promise<Buffer<ArrayBuffer>> {
  let form = forms.get(coding);
  if (!form) {
    form = SMALL.get(coding)!(body);
    forms.set(coding, form);
    // A failed compression is retried for the next client.
    form.catch(() => forms.delete(coding));
  }
  return form;
}

async function compressNow(body: Body, coding: Coding): Promise<Buffer<ArrayBuffer>> {
  running++;
  try {
    const compact = await FAST.get(coding)!(utf8Of(body));
    replace(body, compact);
    return compact;
  } finally {
    running--;
  }
}

function utf8Of(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

function withCoding(vary: string | undefined): string {
  if (vary === undefined) return 'Accept-Encoding';
  return vary.includes('Accept-Encoding') ? vary : `${vary}, Accept-Encoding`;
}

/**
 * The coding with the highest weight; undefined if the client prefers the uncompressed body, or accepts neither coding.
 */
export function preferredCoding(acceptEncoding: string): Coding | undefined {
  const weights = weightsOf(acceptEncoding);
  if (weights.has('x-gzip')) weights.set('gzip', weights.get('x-gzip')!);
  // A client that accepts any coding gets gzip, which every client can decode.
  if (!weights.has('gzip')) weights.set('gzip', weights.get('*') ?? 0);
  let best: Coding | undefined;
  // Without an explicit weight for it, the uncompressed body is sent only if the client accepts no coding.
  let bestWeight = weights.get('identity') ?? 0;
  for (const coding of FAST.keys()) {
    const weight = weights.get(coding) ?? 0;
    if (weight > bestWeight || (weight === bestWeight && weight > 0 && !best)) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}
