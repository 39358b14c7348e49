/**
 * Makes the messages of the match stream. Each match has the form that answers have at `full` (docs/contract.md,
 * Objects).
 */
import { ByteSink, fragment } from '@nearsky/astrotables/bytes';
import { ObjectWriter } from '../../core/answers/object_writer.ts';
import { type SharedFragments, skippedFragment } from '../../core/answers/shared_fragments.ts';
import { nearestOfCatalogs } from '../../core/store/current_matches.ts';
import { ObjectView, type StoredMatch } from '../../core/store/object_record.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import type { MatchMessage, MessageReader } from './message.ts';

export class MatchMessages implements MessageReader {
  readonly #store: StoreReader;
  readonly #fragments: SharedFragments;
  readonly #out = new CompactSink();
  readonly #writer: ObjectWriter;
  readonly #view = new ObjectView();

  /** @param store open for reading or writing */
  constructor(store: StoreReader, fragments: SharedFragments) {
    this.#store = store;
    this.#fragments = fragments;
    this.#writer = new ObjectWriter(this.#out, fragments, store, 'full', store);
  }

  messages(diaObjectId: bigint, matchVersion: number | undefined): readonly MatchMessage[] {
    const object = this.#view;
    if (!this.#store.readObject(diaObjectId, object) || !object.hasStoredMatches) return [];
    const sources = this.#store.readSources(object);
    const { position, ingestTimeUs } = object;
    const messages: MatchMessage[] = [];
    for (const { at, index } of this.#matches(matchVersion)) {
      const version = object.matchVersion(at);
      if (!this.#writer.streamedMatch(object, at, sources[index], this.#crossmatch(version))) continue;
      const catalogName = object.catalogName(at);
      const value = this.#out.take();
      messages.push({ diaObjectId, matchVersion: version, catalogName, ingestTimeUs, position, value });
    }
    return messages;
  }

  /** The matches that this version of the crossmatch found, at most one per catalog; by default the current ones. */
  #matches(version: number | undefined): readonly StoredMatch[] {
    const object = this.#view;
    if (version === undefined) return object.currentMatches();
    const found = object.matches().flatMap((at, index) => (object.matchVersion(at) === version ? { at, index } : []));
    return nearestOfCatalogs(
      found,
      ({ at }) => object.catalogName(at),
      ({ at }) => object.nearness(at),
    );
  }

  /** The settings of that version of the crossmatch, and the catalogs that could not be read for it. */
  #crossmatch(version: number): Parameters<ObjectWriter['streamedMatch']>[3] {
    const current = this.#fragments.current(this.#store, this.#view.current);
    if (current.version === version) return current;
    const record = this.#view.decode().records.find(({ matchVersion }) => matchVersion === version);
    return {
      set: record && this.#fragments.recordedSet(this.#store, record.provenanceSet),
      skipped: skippedFragment(record),
    };
  }
}

/** Writes fragments of JSON without the spaces between members. No fragment may begin inside a string. */
class CompactSink extends ByteSink {
  readonly #compact = new WeakMap<Uint8Array, Uint8Array>();

  override fragment(bytes: Uint8Array): void {
    let compact = this.#compact.get(bytes);
    if (!compact) this.#compact.set(bytes, (compact = withoutSpaces(bytes)));
    super.fragment(compact);
  }

  override longText(text: string): void {
    super.fragment(withoutSpaces(fragment(text)));
  }
}

const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];

/** JSON without the spaces between members. */
function withoutSpaces(json: Uint8Array): Uint8Array {
  const compact = new Uint8Array(json.length);
  let length = 0;
  let isText = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!;
    if (byte === SPACE && !isText) continue;
    compact[length++] = byte;
    if (byte === QUOTE) isText = !isText;
    else if (byte === BACKSLASH) compact[length++] = json[++i]!;
  }
  return compact.subarray(0, length);
}
