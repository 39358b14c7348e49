/** Names of the TNS registry, which `nearsky tns` and the running service keep up to date. */
import type { Capability } from '../../core/host.ts';
import { botOf } from './bot.ts';

export const names: Capability = {
  name: 'names',
  needs: ['ingest', 'objects'],
  serve: () => import('./serve.ts'),
  commands: new Map([
    [
      'tns',
      { summary: 'load or refresh the TNS registry', after: 'crossmatch', load: () => import('./tns_command.ts') },
    ],
  ]),
  duties: [
    {
      name: 'refresh the registry',
      module: 'src/capabilities/names/background_refresh',
      option: { name: 'refresh', doing: 'the TNS registry' },
      about: `With TNS_BOT_ID, TNS_BOT_NAME and TNS_BOT_API_KEY in the environment it keeps the TNS registry up to
date, like \`nearsky tns refresh\`, some minutes after each hour.`,
      isWanted: config => botOf(config) !== undefined,
    },
  ],
};
