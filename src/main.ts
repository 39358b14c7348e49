#!/usr/bin/env node
/** `nearsky <command> [options]`: finds the command in the table, and runs it. */
import { messageOf } from './base/error_text.ts';
import { commandHelp, didYouMean, reportError, runCommand, tell } from './commands/cli.ts';
import { COMMANDS } from './commands/table.ts';
import { loadConfig } from './config/config.ts';

function help(): string {
  const lines = [...COMMANDS].map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`);
  return [
    'nearsky: which catalog sources lie at the position of this Rubin alert object?',
    '',
    'Usage: nearsky <command> [options]',
    '',
    ...lines,
    '',
    '`nearsky help <command>` describes a command, with its options and an example.',
    '`nearsky --version` prints the version.',
    '',
    'To try it, with nothing else needed:',
    '  nearsky demo',
    'To use your own data, run these in order; serve keeps running beside the others:',
    '  nearsky ingest --broker lasair messages.ndjson.gz',
    '  nearsky catalog add gaia_dr3 https://data.lsdb.io/hats/gaia_dr3/gaia',
    '  nearsky serve',
    '`nearsky config --help` explains all settings. A running service documents its answers at /api-docs.',
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

/** The exit status of a program that SIGPIPE ends, in a shell. */
const BROKEN_PIPE = 141;
// If the reader stops reading, like `head`, the program ends silently.
process.stdout.on('error', error => {
  if ((error as NodeJS.ErrnoException).code === 'EPIPE') process.exit(BROKEN_PIPE);
  tell(`nearsky: cannot write to standard output: ${messageOf(error)}`);
  process.exit(1);
});

process.exitCode = await main(process.argv.slice(2));
