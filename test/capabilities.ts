/** What all capabilities answer, and their parts, loaded once for the tests of a process. */
import { CAPABILITIES, SETTINGS } from '../src/capabilities.ts';
import { type Config, loadConfig } from '../src/core/config/config.ts';
import { loadApi, loadParts } from '../src/core/loaded.ts';

/** The values of settings, as strings, by name. */
export type Settings = Readonly<Partial<Record<string, string>>>;

/** All settings of the service, with the defaults for those that are not given. */
export function configWith(settings: Settings = {}): Config {
  return loadConfig({ options: new Map(Object.entries(settings) as [string, string][]) }, SETTINGS);
}

export const API = await loadApi(CAPABILITIES);
export const PARTS = await loadParts(CAPABILITIES);
