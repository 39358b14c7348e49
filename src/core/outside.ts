/** Loads capabilities from outside: the files or packages that NEARSKY_CAPABILITIES names. */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from './base/error_text.ts';
import { CORE_SETTINGS } from './config/config.ts';
import { ENVIRONMENT_ONLY } from './config/settings.ts';
import type { Capability } from './host.ts';
import type { Public } from './public.ts';

/** As a built-in, because the single executable's own modules may not look for packages outside it. */
const { createRequire, findPackageJSON } = process.getBuiltinModule('node:module');

/** The default export of such a module. */
export type FromOutside = (nearsky: Public) => Capability;

/**
 * @param list comma-separated: paths from the working directory, which begin with `.` or `/`, or names of packages that
 * are installed there
 * @param own the capabilities of nearsky, whose names and settings are taken
 * @throws Error naming the one that cannot be loaded
 */
export async function loadOutside(list = '', own: readonly Capability[]): Promise<readonly Capability[]> {
  const sources = list.split(',').flatMap(source => source.trim() || []);
  if (sources.length === 0) return [];
  const { PUBLIC } = await import('./public.ts');
  const all = [...own];
  for (const source of sources) {
    try {
      const { default: make } = (await import(pathToFileURL(fileOf(source)).href)) as {
        readonly default?: FromOutside;
      };
      if (typeof make !== 'function') throw new Error('its default export is not a function');
      const capability = make(PUBLIC);
      requireFit(capability, all);
      all.push(capability);
    } catch (error) {
      // Node adds to some messages the files that led to the module.
      const [why] = messageOf(error).split('\n');
      throw new Error(`Cannot load ${source}, which NEARSKY_CAPABILITIES names, because ${why}`, { cause: error });
    }
  }
  return all.slice(own.length);
}

/** `import` would look for packages beside nearsky, so `require` finds them from the working directory. */
function fileOf(source: string): string {
  if (/^[./]/.test(source)) return resolve(source);
  const base = join(process.cwd(), '_');
  try {
    return createRequire(base).resolve(source);
  } catch (error) {
    // The package may have an entry for `import` only, which `require` does not find.
    const description = findPackageJSON(source, pathToFileURL(base));
    const entry = description && importEntry(JSON.parse(readFileSync(description, 'utf8')).exports);
    if (!entry) throw error;
    return join(dirname(description), entry);
  }
}

/** The main entry among the `exports` of a package, with the first condition that applies. */
function importEntry(exports: unknown): string | undefined {
  if (typeof exports !== 'object' || exports === null) return typeof exports === 'string' ? exports : undefined;
  const [key] = Object.keys(exports).filter(key => ['.', 'node', 'import', 'default'].includes(key));
  return key === undefined ? undefined : importEntry(exports[key as keyof typeof exports]);
}

function requireFit(
  { name, needs = [], settings, commands = new Map() }: Capability,
  others: readonly Capability[],
): void {
  const names = others.map(other => other.name);
  if (typeof name !== 'string' || name === '') throw new Error('it has no name');
  if (names.includes(name)) throw new Error(`another capability is named ${name}`);
  const missing = needs.find(need => !names.includes(need));
  if (missing !== undefined) throw new Error(`it needs ${missing}, which is missing`);
  if (!(commands instanceof Map)) throw new Error('its commands are not a Map');
  const known = [CORE_SETTINGS.settings, ENVIRONMENT_ONLY, ...others.map(other => other.settings?.settings ?? {})];
  const taken = Object.keys(settings?.settings ?? {}).find(key => known.some(each => Object.hasOwn(each, key)));
  if (taken !== undefined) throw new Error(`another setting is named ${taken}`);
}
