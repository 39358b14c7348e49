/** The messages of the stream of matches: each match as answers at `full` show it (docs/contract.md, Objects). */
import { ByteSink } from '../base/bytes.ts';
import { ObjectView } from '../store/object_record.ts';
import type { Store } from '../store/store.ts';
import { skippedCatalogs } from '../store/unread.ts';
import type { MatchMessage, MatchSource } from '../stream/message.ts';
import { ObjectWriter, skippedFragment } from './object_writer.ts';
import type { SharedFragments } from './shared_fragments.ts';

const NOTHING_SKIPPED = skippedFragment([]);

export class MatchMessages implements MatchSource {
  readonly #store: Store;
  readonly #out = new ByteSink();
  readonly #writer: ObjectWriter;
  readonly #view = new ObjectView();

  /** @param store open for reading or writing */
  constructor(store: Store, fragments: SharedFragments) {
    this.#store = store;
    this.#writer = new ObjectWriter(this.#out, fragments, store, 'full');
  }

  messages(diaObjectId: bigint, matchVersion: number | undefined): readonly MatchMessage[] {
    const object = this.#view;
    if (!this.#store.readObject(diaObjectId, object) || !object.hasMatches) return [];
    const sources = this.#store.readSources(diaObjectId);
    const messages: MatchMessage[] = [];
    for (const [i, at] of object.matches().entries()) {
      const version = object.matchVersion(at);
      if (matchVersion !== undefined && version !== matchVersion) continue;
      if (!this.#writer.streamedMatch(object, at, sources[i], this.#skipped(version))) continue;
      const value = withoutSpaces(this.#out.bytes.subarray(0, this.#out.length));
      this.#out.clear();
      messages.push({ diaObjectId, matchVersion: version, catalogName: object.catalogName(at), value });
    }
    return messages;
  }

  /** The catalogs that the crossmatch of that version could not read. */
  #skipped(version: number): Uint8Array {
    const { record: current } = this.#view;
    const isCurrent = current?.matchVersion === version;
    const record = isCurrent
      ? current
      : this.#view.decode().records.find(({ matchVersion }) => matchVersion === version);
    const catalogs = record ? [...skippedCatalogs(record)] : [];
    return catalogs.length === 0 ? NOTHING_SKIPPED : skippedFragment(catalogs);
  }
}

const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];

/** JSON text without the spaces between its parts. */
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
