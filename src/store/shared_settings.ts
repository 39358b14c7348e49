/** The settings that must be equal on all nodes of a log, as strings by name. */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';

export type SharedSettings = Readonly<Record<string, string>>;

const KEY = new TextEncoder().encode('settings');

/** Undefined if no node has shared its settings yet. */
export function readSettings({ meta }: Databases): SharedSettings | undefined {
  const bytes = meta.get(KEY);
  return bytes && (decodePlain(bytes) as SharedSettings);
}

export function removeSettings({ meta }: Databases): void {
  meta.remove(KEY);
}

/** To be called in a write transaction. @param isReplacing whether to replace existing settings */
export function writeSettings(databases: Databases, settings: SharedSettings, isReplacing: boolean): void {
  if (isReplacing || !readSettings(databases)) databases.meta.put(KEY, encodePlain(settings));
}
