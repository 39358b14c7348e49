/** Loads the settings from the command line, the environment, the configuration file and the defaults. */
import { readFileSync } from 'node:fs';
import { closestMatch } from 'leven';
import { messageOf } from '../base/error_text.ts';
import { DEFAULT_WINDOW_HOURS } from '../contract/limits.ts';
import { type Config, ENVIRONMENT_ONLY, SETTINGS, type Setting, type SettingName } from './settings.ts';
import { read } from './values.ts';

/** An invalid setting: the program does not start (exit status 2). */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

export interface ConfigSources {
  readonly options?: ReadonlyMap<SettingName, string>;
  /** The names of the settings on the command line, for messages. */
  readonly optionNames?: ReadonlyMap<SettingName, string>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The path of a JSON file: one object, whose keys are names of settings. */
  readonly file?: string | undefined;
}

/** The source of a value; each source overrides those after it. */
export type Origin = 'option' | 'environment' | 'file' | 'default';

export interface LoadedConfig {
  readonly config: Config;
  readonly origins: ReadonlyMap<SettingName, Origin>;
  /** Environment variables that are not settings but look like one. */
  readonly doubtful: readonly { readonly name: string; readonly nearest: SettingName }[];
}

/**
 * The settings from all their sources. An empty environment variable counts as absent, except APP_VERSION, where it
 * means null.
 * @throws ConfigError naming each invalid setting, its value and its bound
 */
export function loadConfig(sources: ConfigSources = {}): Config {
  return loadConfigWithOrigins(sources).config;
}

/** Like `loadConfig`, with the source of each value. */
export function loadConfigWithOrigins(sources: ConfigSources): LoadedConfig {
  const { options, optionNames, environment = {}, file } = sources;
  const inFile = file === undefined ? new Map<string, unknown>() : readConfigFile(file);
  const config: Record<string, unknown> = {};
  const origins = new Map<SettingName, Origin>();
  const problems: string[] = [];
  for (const [key, setting] of Object.entries(SETTINGS) as [SettingName, Setting<unknown>][]) {
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
    } else if (inEnvironment !== undefined && (inEnvironment !== '' || key === 'APP_VERSION')) {
      take('environment', inEnvironment, 'in the environment');
    } else if (inFile.has(key)) {
      take('file', inFile.get(key), `in ${file}`);
    } else {
      origins.set(key, 'default');
      config[key] = setting.default;
    }
  }
  const { unknown, doubtful } = strangers(environment);
  problems.push(...unknown);
  if (problems.length === 0) problems.push(...conflictsOf(config as Config));
  if (problems.length > 0) throw new ConfigError(`Cannot start because ${problems.join('; and ')}`);
  return { config: Object.freeze(config) as Config, origins, doubtful };
}

/** Finds settings that are valid individually, but not in combination. */
function conflictsOf(config: Config): string[] {
  const pairs: [larger: SettingName, least: number, why: string][] = [
    ['RECENT_CROSSMATCH_MAX_WINDOW_HOURS', DEFAULT_WINDOW_HOURS, 'it is the default window'],
    [
      'RECENT_CROSSMATCH_MAX_PAGE_SIZE',
      config.RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE,
      'RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE has that value',
    ],
    [
      'NEARSKY_CHILD_MEMORY_MIB',
      config.API_TABLE_MEMORY_MIB + 96,
      `a large table takes up to 96 more than API_TABLE_MEMORY_MIB (${config.API_TABLE_MEMORY_MIB})`,
    ],
    [
      'NEARSKY_CHILD_MEMORY_MIB',
      config.TAP_MAX_QUERIES > 0 ? config.TAP_MEMORY_MIB + 352 : 0,
      `ADQL queries and two small tables take up to 352 more than TAP_MEMORY_MIB (${config.TAP_MEMORY_MIB})`,
    ],
    ['API_MAX_CONE_RADIUS_ARCSEC', config.TNS_MATCH_RADIUS_ARCSEC, 'TNS_MATCH_RADIUS_ARCSEC has that value'],
  ];
  return pairs
    .filter(([name, least]) => (config[name] as number) < least)
    .map(([name, least, why]) => `${name} must be at least ${least}, because ${why} (${config[name]} was given)`);
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
function strangers(environment: Readonly<Record<string, string | undefined>>) {
  const unknown: string[] = [];
  const doubtful: { name: string; nearest: SettingName }[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!value || isKnown(name)) continue;
    if (name.startsWith('NEARSKY_')) unknown.push(`${name} in the environment is not a setting${suggestion(name)}`);
    else {
      const nearest = nearestSetting(name, 1);
      if (nearest) doubtful.push({ name, nearest });
    }
  }
  return { unknown, doubtful };
}

function isKnown(name: string): boolean {
  return Object.hasOwn(SETTINGS, name) || Object.hasOwn(ENVIRONMENT_ONLY, name);
}

/** The setting with the nearest name, if it differs in at most `maxDistance` characters. */
function nearestSetting(name: string, maxDistance: number): SettingName | undefined {
  // The comparison of all names would take a tenth of the time of a short command.
  const alike = Object.keys(SETTINGS).filter(({ length }) => Math.abs(length - name.length) <= maxDistance);
  return closestMatch(name.toUpperCase(), alike, { maxDistance }) as SettingName | undefined;
}

/** The advice after an unknown name of a setting. */
export function suggestion(name: string): string {
  const nearest = nearestSetting(name, 3);
  return nearest ? `: did you mean ${nearest}?` : ': `nearsky config --help` lists all settings';
}

function readConfigFile(file: string): Map<string, unknown> {
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
    if (Object.hasOwn(SETTINGS, key)) continue;
    const why = Object.hasOwn(ENVIRONMENT_ONLY, key)
      ? `names ${key}, which is read from the environment only`
      : `names an unknown setting, ${key}${suggestion(key)}`;
    throw new ConfigError(`Cannot start because ${file} ${why}`);
  }
  return new Map(Object.entries(content));
}
