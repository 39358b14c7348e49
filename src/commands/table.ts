/** The table of commands. A command's module is loaded only when the command runs. */
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
  ['lookup', { summary: 'show what is known about objects, by id or name', load: () => import('./lookup.ts') }],
  ['cone', { summary: 'list the objects within a radius of a position', load: () => import('./cone.ts') }],
  ['match', { summary: 'match a table with the objects, or with a catalog', load: () => import('./match.ts') }],
  ['import', { summary: 'store the lines of an export', load: () => import('./import.ts') }],
  ['export', { summary: 'write all stored data as lines, or as HATS catalogs', load: () => import('./export.ts') }],
  ['remove', { summary: 'remove objects', load: () => import('./remove.ts') }],
  ['backup', { summary: 'copy a data directory that is in use', load: () => import('./backup.ts') }],
  ['node', { summary: 'manage nodes that share one log', load: () => import('./node.ts') }],
  [
    'upgrade',
    {
      summary: 'bring a data directory of an older release to the present format',
      load: () => import('./upgrade.ts'),
    },
  ],
  ['check', { summary: 'check the database for damage', load: () => import('./check.ts') }],
  ['config', { summary: 'show the current settings and the origin of each', load: () => import('./config.ts') }],
  [
    'completion',
    {
      summary: 'print a script for command completion in a shell',
      load: async () => ({ command: (await import('./completion.ts')).completionOf(COMMANDS) }),
    },
  ],
  [
    'report',
    { summary: 'show what happened in a night, and whether a person is needed', load: () => import('./report.ts') },
  ],
  ['stats', { summary: 'show what is stored', load: () => import('./stats.ts') }],
]);
