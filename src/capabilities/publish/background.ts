/** What `serve` does for this capability. */
import type { BackgroundOf } from '../../core/host.ts';
import { publishSettings } from './publish_settings.ts';
import { BackgroundPublisher } from './publisher.ts';

export const background: BackgroundOf = config => {
  const settings = publishSettings(config, process.env);
  return settings && new BackgroundPublisher({ config, settings });
};
