/**
 * The settings. Their sources in order of precedence: an option of the command line, the environment variable with the
 * setting's name, the JSON configuration file, the default. `src/core/config/settings.ts` has the settings of the core; each
 * capability declares its own in `settings.ts` of its folder.
 */
export {
  ConfigError,
  type ConfigSources,
  type LoadedConfig,
  loadConfig,
  loadConfigWithOrigins,
  type Origin,
  suggestion,
  withoutPassword,
} from './load.ts';
export { about, type Setting, type SettingGroup, secret, type ValuesOf } from './setting.ts';
export { CORE_SETTINGS, type OwnSettings, ownSettings, type SettingTable, settingTable } from './setting_table.ts';
export { type Config, ENVIRONMENT_ONLY, type EnvironmentVariable, type SettingName } from './settings.ts';
export { type Written, written } from './values.ts';
