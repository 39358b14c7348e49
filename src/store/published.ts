/** The position up to which the matches are published, by topic. */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';
import type { PublishedPosition } from './types.ts';

const PUBLISHED_KEY = new TextEncoder().encode('published');

type Stored = Readonly<Record<string, readonly [sequence: number, objects: number, messages: number]>>;

function readStored({ meta }: Databases): Stored {
  const bytes = meta.get(PUBLISHED_KEY);
  return bytes ? (decodePlain(bytes) as Stored) : {};
}

/** By topic; topics to which nothing was ever published are missing. */
export function readPublished(databases: Databases): ReadonlyMap<string, PublishedPosition> {
  const topics = Object.entries(readStored(databases)).map(([topic, [sequence, objects, messages]]) => {
    return [topic, { sequence, objects, messages }] as const;
  });
  return new Map(topics);
}

/** To be called in a write transaction. */
export function storePublished(databases: Databases, topic: string, position: PublishedPosition): void {
  const { sequence, objects, messages } = position;
  const stored = { ...readStored(databases), [topic]: [sequence, objects, messages] };
  databases.meta.put(PUBLISHED_KEY, encodePlain(stored));
}
