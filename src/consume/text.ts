import { isUtf8 } from 'node:buffer';
import { type Normalised, rejected } from '../ingest/normalise.ts';

/** Reads bytes that must be text. */
export function withText(bytes: Uint8Array, read: (text: string) => Normalised): Normalised {
  return isUtf8(bytes)
    ? read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
    : rejected('not UTF-8');
}
