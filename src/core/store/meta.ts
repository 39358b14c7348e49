/** Values in the `meta` database, such as the progress of each topic, and the settings that all nodes of a log share. */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';
import type { PublishedPosition } from './types.ts';

/** A value under its name. Call `write` and `remove` in a write transaction. */
export class MetaValue<T> {
  readonly #key: Uint8Array;

  constructor(name: string) {
    this.#key = new TextEncoder().encode(name);
  }

  read({ meta }: Databases, options?: object): T | undefined {
    const bytes = meta.get(this.#key, options);
    return bytes && (decodePlain(bytes) as T);
  }

  write = ({ meta }: Databases, value: T) => meta.put(this.#key, encodePlain(value));

  remove = ({ meta }: Databases) => meta.remove(this.#key);
}

type Stored = Readonly<Record<string, readonly [sequence: number, objects: number, messages: number]>>;

const published = new MetaValue<Stored>('published');

/** Returns the positions by topic, without topics that were never published to. */
export function readPublished(databases: Databases): ReadonlyMap<string, PublishedPosition> {
  const topics = Object.entries(published.read(databases) ?? {}).map(([topic, [sequence, objects, messages]]) => {
    return [topic, { sequence, objects, messages }] as const;
  });
  return new Map(topics);
}

/** Call this in a write transaction. */
export function storePublished(databases: Databases, topic: string, position: PublishedPosition): void {
  const { sequence, objects, messages } = position;
  published.write(databases, { ...published.read(databases), [topic]: [sequence, objects, messages] });
}

/** The settings that must be equal on all nodes of a log, as strings by name. */
export type SharedSettings = Readonly<Record<string, string>>;

export const storedSettings = new MetaValue<SharedSettings>('settings');

/** Call this in a write transaction. @param isReplacing whether to replace existing settings */
export function writeSettings(databases: Databases, settings: SharedSettings, isReplacing: boolean): void {
  if (isReplacing || !storedSettings.read(databases)) storedSettings.write(databases, settings);
}

/** The key of the creation time, which has no checksum, because every release must be able to read it. */
export const CREATED_KEY = new TextEncoder().encode('created');

/** The creation time of the database, ISO 8601. */
export function readCreated({ meta }: Databases): string {
  const created = meta.getPlain(CREATED_KEY);
  return created ? `${decodePlain(created)}` : '';
}
