/** Values in the `meta` database: the progress of each topic, and the settings that all nodes of a log share. */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';
import type { PublishedPosition } from './types.ts';

const PUBLISHED_KEY = new TextEncoder().encode('published');

type Stored = Readonly<Record<string, readonly [sequence: number, objects: number, messages: number]>>;

function readStored({ meta }: Databases): Stored {
  const bytes = meta.get(PUBLISHED_KEY);
  return bytes ? (decodePlain(bytes) as Stored) : {};
}

/** By topic; topics without any publication are missing. */
export function readPublished(databases: Databases): ReadonlyMap<string, PublishedPosition> {
  const topics = Object.entries(readStored(databases)).map(([topic, [sequence, objects, messages]]) => {
    return [topic, { sequence, objects, messages }] as const;
  });
  return new Map(topics);
}

/** Call this in a write transaction. */
export function storePublished(databases: Databases, topic: string, position: PublishedPosition): void {
  const { sequence, objects, messages } = position;
  const stored = { ...readStored(databases), [topic]: [sequence, objects, messages] };
  databases.meta.put(PUBLISHED_KEY, encodePlain(stored));
}

/** The settings that must be equal on all nodes of a log, as strings by name. */
export type SharedSettings = Readonly<Record<string, string>>;

const SETTINGS_KEY = new TextEncoder().encode('settings');

/** Undefined if no node has shared its settings yet. */
export function readSettings({ meta }: Databases): SharedSettings | undefined {
  const bytes = meta.get(SETTINGS_KEY);
  return bytes && (decodePlain(bytes) as SharedSettings);
}

export function removeSettings({ meta }: Databases): void {
  meta.remove(SETTINGS_KEY);
}

/** Call this in a write transaction. @param isReplacing whether to replace existing settings */
export function writeSettings(databases: Databases, settings: SharedSettings, isReplacing: boolean): void {
  if (isReplacing || !readSettings(databases)) databases.meta.put(SETTINGS_KEY, encodePlain(settings));
}
