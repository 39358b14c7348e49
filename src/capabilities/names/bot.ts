/** The bot that downloads from the TNS. */
import { type Config, ConfigError } from '../../core/config/config.ts';

export interface BotCredentials {
  readonly id: number;
  readonly name: string;
  readonly apiKey: string;
}

export const BOT_SETTINGS = ['TNS_BOT_ID', 'TNS_BOT_NAME', 'TNS_BOT_API_KEY'] as const;

/**
 * The bot that the settings describe; undefined if there is none.
 * @throws ConfigError if only some of its settings are present
 */
export function botOf(config: Config): BotCredentials | undefined {
  const { TNS_BOT_ID: id, TNS_BOT_NAME: name, TNS_BOT_API_KEY: apiKey } = config;
  if (id !== null && name !== null && apiKey !== null) return { id, name, apiKey };
  if (id === null && name === null && apiKey === null) return undefined;
  const missing = BOT_SETTINGS.filter(setting => config[setting] === null);
  throw new ConfigError(
    `Cannot refresh the registry because ${missing.join(', ')} must be set: set all credentials of your bot in the environment`,
  );
}
