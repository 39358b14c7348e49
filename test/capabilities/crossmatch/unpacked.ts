import { appendSources, decodeSources } from '../../../src/core/store/records.ts';
import type { MatchSource, PackedSource } from '../../../src/core/store/types.ts';

const ORDINAL = 7;

/** A source in the form in which it is read from the store. */
export function unpacked(source: MatchSource | PackedSource): MatchSource {
  if (!('packed' in source)) return source;
  const stored = appendSources(undefined, [source], () => ORDINAL);
  return decodeSources(stored, ordinal => (ordinal === ORDINAL ? source.keys : []))[0]!;
}
