#!/usr/bin/env node
/** The table of commands: `nearsky <command> [options]`. A command's module is loaded only when it runs. */
import { type Command, commandHelp, didYouMean, reportError, runCommand, tell } from './commands/cli.ts';
import { loadConfig } from './config/config.ts';

interface Entry {
  readonly summary: string;
  load(): Promise<{ readonly command: Command }>;
}

const COMMANDS = new Map<string, Entry>([
  [
    'demo',
    {
      summary: 'make a data directory from the sample that ships with nearsky, and serve it',
      load: () => import('./commands/demo.ts'),
    },
  ],
  ['serve', { summary: 'serve a data directory over HTTP', load: () => import('./commands/serve.ts') }],
  ['ingest', { summary: "store a broker's messages", load: () => import('./commands/ingest.ts') }],
  ['consume', { summary: "store the brokers' live messages", load: () => import('./commands/consume.ts') }],
  ['catalog', { summary: 'register, list and check the catalogs', load: () => import('./commands/catalog.ts') }],
  ['crossmatch', { summary: 'crossmatch every pending object once', load: () => import('./commands/crossmatch.ts') }],
  ['publish', { summary: 'publish each match on a Kafka topic', load: () => import('./commands/publish.ts') }],
  ['tns', { summary: 'load or refresh the TNS registry', load: () => import('./commands/tns.ts') }],
  ['lookup', { summary: 'what is known of objects, by id or name', load: () => import('./commands/lookup.ts') }],
  ['cone', { summary: 'the objects within a radius of a position', load: () => import('./commands/cone.ts') }],
  [
    'match',
    { summary: 'a table against the objects, or against a catalog', load: () => import('./commands/match.ts') },
  ],
  ['import', { summary: 'store what an export holds', load: () => import('./commands/import.ts') }],
  ['export', { summary: 'write everything that is stored', load: () => import('./commands/export.ts') }],
  ['backup', { summary: 'copy a data directory that is in use', load: () => import('./commands/backup.ts') }],
  [
    'node',
    { summary: 'the log that several nodes share: status, begin, leave', load: () => import('./commands/node.ts') },
  ],
  ['check', { summary: 'say whether the database is whole', load: () => import('./commands/check.ts') }],
  [
    'config',
    { summary: 'show the settings in force, and where they come from', load: () => import('./commands/config.ts') },
  ],
  ['stats', { summary: 'show what is stored', load: () => import('./commands/stats.ts') }],
]);

function help(): string {
  const lines = [...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`);
  return [
    'nearsky: which catalog sources lie at the position of this Rubin alert object?',
    '',
    'Usage: nearsky <command> [options]',
    '',
    ...lines,
    '',
    '`nearsky help <command>` tells what a command does, its options and an example; `nearsky --version` the version.',
    '',
    'A first look, with nothing else needed:',
    '  nearsky demo',
    'Your own data, in this order; the last goes on beside the others from then on:',
    '  nearsky ingest --broker lasair messages.ndjson.gz',
    '  nearsky catalog add gaia_dr3 https://data.lsdb.io/hats/gaia_dr3/gaia',
    '  nearsky serve',
    '`nearsky config --help` explains all settings; a service that runs says at /api-docs what it answers.',
    '',
  ].join('\n');
}

function refuse(what: string): number {
  const end = what.endsWith('?') ? '' : '.';
  tell(`nearsky: ${what}${end} Commands: ${[...COMMANDS.keys()].join(', ')}. See nearsky --help`);
  return 2;
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === 'help' && rest.length > 0) {
    const entry = COMMANDS.get(rest[0]!);
    if (!entry)
      return refuse(`unknown command ${JSON.stringify(rest[0])}${didYouMean(rest[0]!, [...COMMANDS.keys()])}`);
    process.stdout.write(commandHelp((await entry.load()).command));
    return 0;
  }
  if (name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return 0;
  }
  if (name === '--version') {
    process.stdout.write(`nearsky ${loadConfig().APP_VERSION}\n`);
    return 0;
  }
  if (name === undefined) return refuse('no command given');
  const entry = COMMANDS.get(name);
  if (!entry) return refuse(`unknown command ${JSON.stringify(name)}${didYouMean(name, [...COMMANDS.keys()])}`);
  try {
    const { command } = await entry.load();
    return await runCommand(command, rest);
  } catch (error) {
    return reportError(name, error);
  }
}

process.exitCode = await main(process.argv.slice(2));
