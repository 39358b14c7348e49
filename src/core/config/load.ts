/** Loads the settings from the command line, the environment, the configuration file and the defaults. */
import { readFileSync } from 'node:fs';
import { closestMatch } from 'leven';
import { messageOf } from '../base/error_text.ts';
import type { Setting } from './setting.ts';
import { CORE_SETTINGS, type SettingTable } from './setting_table.ts';
import { type Config, ENVIRONMENT_ONLY } from './settings.ts';
import { read } from './values.ts';

/** An invalid setting: the program does not start (exit status 2). */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export interface ConfigSources {
  readonly options?: ReadonlyMap<string, string>;
  /** The names of the settings on the command line, for messages. */
  readonly optionNames?: ReadonlyMap<string, string>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The path of a JSON file: one object, whose keys are names of settings. */
  readonly file?: string | undefined;
  /** Values instead of the usual defaults. Those of settings that do not exist are ignored. */
  readonly defaults?: Readonly<Record<string, unknown>>;
}

/** The source of a value; each source overrides those after it. */
export type Origin = 'option' | 'environment' | 'file' | 'default';

export interface LoadedConfig {
  readonly config: Config;
  readonly origins: ReadonlyMap<string, Origin>;
  /** Environment variables that are not settings but look like one. */
  readonly doubtful: readonly { readonly name: string; readonly nearest: string }[];
}

/**
 * The settings from all their sources. An empty environment variable counts as absent.
 * @param table all settings; by default those of the core, which no capability can use
 * @throws ConfigError naming each invalid setting, its value and its bound
 */
export function loadConfig(sources: ConfigSources = {}, table = CORE_SETTINGS): Config {
  return loadConfigWithOrigins(sources, table).config;
}

/** Like `loadConfig`, with the source of each value. */
export function loadConfigWithOrigins(sources: ConfigSources, table: SettingTable): LoadedConfig {
  const { options, optionNames, environment = {}, file, defaults = {} } = sources;
  const inFile = file === undefined ? new Map<string, unknown>() : readConfigFile(file, table);
  const config: Record<string, unknown> = {};
  const origins = new Map<string, Origin>();
  const problems: string[] = [];
  for (const key of options?.keys() ?? []) {
    if (!Object.hasOwn(table.settings, key)) problems.push(`${key} is not a setting${suggestion(key, table)}`);
  }
  for (const [key, setting] of Object.entries(table.settings)) {
    const take = (origin: Origin, value: unknown, where: string) => {
      origins.set(key, origin);
      config[key] = read(setting, value);
      const name = (origin === 'option' && optionNames?.get(key)) || key;
      if (config[key] === undefined)
        problems.push(`${name} must be ${setting.must} (${given(setting, value)} was given ${where})`);
    };
    const inEnvironment = environment[key];
    if (options?.has(key)) {
      take('option', options.get(key), 'on the command line');
    } else if (inEnvironment !== undefined && inEnvironment !== '') {
      take('environment', inEnvironment, 'in the environment');
    } else if (inFile.has(key)) {
      take('file', inFile.get(key), `in ${file}`);
    } else {
      origins.set(key, 'default');
      config[key] = Object.hasOwn(defaults, key) ? defaults[key] : setting.default;
    }
  }
  for (const [key, { defaultsWith }] of Object.entries(table.settings)) {
    const other = defaultsWith && origins.get(defaultsWith);
    if (other && other !== 'default' && origins.get(key) === 'default') config[key] = null;
  }
  const { unknown, doubtful } = strangers(environment, table);
  problems.push(...unknown);
  if (problems.length === 0) problems.push(...conflictsOf(config as Config, table));
  if (problems.length > 0) throw new ConfigError(`Cannot start because ${problems.join('; and ')}`);
  return { config: Object.freeze(config) as Config, origins, doubtful };
}

/** Finds settings that are valid individually, but not in combination. */
function conflictsOf(config: Config, table: SettingTable): string[] {
  const values = config as Readonly<Record<string, unknown>>;
  return table
    .least(config)
    .filter(({ name, least }) => (values[name] as number) < least)
    .map(({ name, least, why }) => `${name} must be at least ${least}, because ${why} (${values[name]} was given)`);
}

function given(setting: Setting<unknown>, value: unknown): string {
  return setting.secret ? 'a secret value' : withoutPassword(JSON.stringify(value));
}

/** The text without the user names and passwords of addresses. */
export function withoutPassword(text: string): string {
  return text.replaceAll(/\/\/[^/@\s"]*@/g, '//…@');
}

/**
 * Finds variables that are not settings. The prefix NEARSKY_ is ours, so any other name with it is an error. A name
 * that differs from a setting's by one typing error only causes a warning, because it may belong to another program.
 */
function strangers(environment: Readonly<Record<string, string | undefined>>, table: SettingTable) {
  const unknown: string[] = [];
  const doubtful: { name: string; nearest: string }[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!value || isKnown(name, table)) continue;
    if (name.startsWith('NEARSKY_'))
      unknown.push(`${name} in the environment is not a setting${suggestion(name, table)}`);
    else {
      const nearest = nearestSetting(name, 1, table);
      if (nearest) doubtful.push({ name, nearest });
    }
  }
  return { unknown, doubtful };
}

function isKnown(name: string, { settings }: SettingTable): boolean {
  return Object.hasOwn(settings, name) || Object.hasOwn(ENVIRONMENT_ONLY, name);
}

/** The setting with the nearest name, if it differs in at most `maxDistance` characters. */
function nearestSetting(name: string, maxDistance: number, { settings }: SettingTable): string | undefined {
  // The comparison of all names would take a tenth of the time of a short command.
  const alike = Object.keys(settings).filter(({ length }) => Math.abs(length - name.length) <= maxDistance);
  return closestMatch(name.toUpperCase(), alike, { maxDistance });
}

/** The advice after an unknown name of a setting. */
export function suggestion(name: string, table: SettingTable): string {
  const nearest = nearestSetting(name, 3, table);
  return nearest ? `: did you mean ${nearest}?` : ': `nearsky config --help` lists all settings';
}

function readConfigFile(file: string, table: SettingTable): Map<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The message ends with a quote from the file, which may contain a secret.
    const why = messageOf(error).replace(/, (\.\.\.)?".*"(\.\.\.)? is not valid JSON$/s, '');
    throw new ConfigError(`Cannot read the configuration file ${file} (${why}): set --config to a JSON file`);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ConfigError(
      `Cannot read the configuration file ${file} because it must contain one JSON object of settings`,
    );
  }
  for (const key of Object.keys(content)) {
    if (Object.hasOwn(table.settings, key)) continue;
    const why = Object.hasOwn(ENVIRONMENT_ONLY, key)
      ? `names ${key}, which is read from the environment only`
      : `names an unknown setting, ${key}${suggestion(key, table)}`;
    throw new ConfigError(`Cannot start because ${file} ${why}`);
  }
  return new Map(Object.entries(content));
}
