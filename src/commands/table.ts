/** The table of commands. A command's module is loaded only when it is needed. */
import type { CommandTable, Entry } from './cli.ts';

export const COMMANDS: CommandTable = new Map<string, Entry>([
  [
    'demo',
    {
      summary: 'make a data directory from the sample that ships with nearsky, and serve it',
      load: () => import('./demo.ts'),
    },
  ],
  ['serve', { summary: 'serve a data directory over HTTP', load: () => import('./serve.ts') }],
  ['ingest', { summary: "store a broker's messages", load: () => import('./ingest.ts') }],
  ['consume', { summary: "store the brokers' live messages", load: () => import('./consume.ts') }],
  ['catalog', { summary: 'register, list and check the catalogs', load: () => import('./catalog.ts') }],
  ['crossmatch', { summary: 'crossmatch every pending object once', load: () => import('./crossmatch.ts') }],
  ['publish', { summary: 'publish each match on a Kafka topic', load: () => import('./publish.ts') }],
  ['tns', { summary: 'load or refresh the TNS registry', load: () => import('./tns.ts') }],
  ['lookup', { summary: 'what is known of objects, by id or name', load: () => import('./lookup.ts') }],
  ['cone', { summary: 'the objects within a radius of a position', load: () => import('./cone.ts') }],
  ['match', { summary: 'a table against the objects, or against a catalog', load: () => import('./match.ts') }],
  ['import', { summary: 'store what an export holds', load: () => import('./import.ts') }],
  ['export', { summary: 'write everything that is stored', load: () => import('./export.ts') }],
  ['backup', { summary: 'copy a data directory that is in use', load: () => import('./backup.ts') }],
  ['node', { summary: 'the log that several nodes share: status, begin, leave', load: () => import('./node.ts') }],
  [
    'upgrade',
    {
      summary: 'bring a data directory of an older release to the present format',
      load: () => import('./upgrade.ts'),
    },
  ],
  ['check', { summary: 'say whether the database is whole', load: () => import('./check.ts') }],
  ['config', { summary: 'show the settings in force, and where they come from', load: () => import('./config.ts') }],
  [
    'completion',
    {
      summary: 'print a script with which a shell completes command lines',
      load: async () => ({ command: (await import('./completion.ts')).completionOf(COMMANDS) }),
    },
  ],
  ['stats', { summary: 'show what is stored', load: () => import('./stats.ts') }],
]);
