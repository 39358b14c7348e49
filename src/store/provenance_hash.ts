import { createHash } from 'node:crypto';
import type { ProvenanceSet } from './types.ts';

/** SHA-256 of the set's canonical JSON (keys sorted, no spaces), as 64 lowercase hex digits. Equal sets have equal hashes. */
export function contentHash(set: ProvenanceSet): string {
  return createHash('sha256').update(canonicalJson(set)).digest('hex');
}

function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`).join(',')}}`;
}
