/** Finds the command that is typed, and runs it. */
import { CAPABILITIES, SETTINGS } from '../capabilities.ts';
import { commandHelp, didYouMean, reportError, runCommand, type Serve, tell } from '../core/cli/command.ts';
import { loadConfig } from '../core/config/config.ts';
import { inProcess } from '../core/in_process.ts';
import { COMMANDS, REFUSED } from './table.ts';

/** Only commands that serve load what serves. */
const serve: Serve = async (config, options) => await (await import('./serve.ts')).serve(config, options);

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

/** Runs `nearsky ARGS` and returns its exit status. */
export async function main(args: readonly string[]): Promise<number> {
  if (REFUSED) {
    tell(`nearsky: ${REFUSED.message}`);
    return 2;
  }
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
    return await runCommand(command, rest, SETTINGS, { inProcess: inProcess(CAPABILITIES), serve });
  } catch (error) {
    return reportError(name, error);
  }
}
