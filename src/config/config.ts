/**
 * The settings. Their sources in order of precedence: an option of the command line, the environment variable with the
 * setting's name, the JSON configuration file, the default. `src/config/settings.ts` has the table of all settings.
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
export {
  type Config,
  ENVIRONMENT_ONLY,
  type EnvironmentVariable,
  SETTING_GROUPS,
  SETTINGS,
  type Setting,
  type SettingGroup,
  type SettingName,
} from './settings.ts';
export { type Written, written } from './values.ts';
