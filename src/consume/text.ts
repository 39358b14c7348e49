import { isUtf8 } from 'node:buffer';
import { type Normalised, rejected } from '../ingest/normalise.ts';

/** Passes UTF-8 bytes to `read` as text; rejects any other bytes. */
export function withText(bytes: Uint8Array, read: (text: string) => Normalised): Normalised {
  return isUtf8(bytes)
    ? read(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString())
    : rejected('not UTF-8');
}
