/**
 * The table of commands: those of the core, and those of the capabilities. A command's module is loaded only when the
 * command runs.
 */
import { CAPABILITIES, OUTSIDE } from '../capabilities.ts';
import type { CommandTable, Entry } from '../core/cli/command.ts';
import { clashOfCommands, summed } from '../core/cli/command_table.ts';

const CORE: CommandTable = new Map<string, Entry>([
  ['serve', { summary: 'serve a data directory over HTTP', load: () => import('./serve.ts') }],
  ['config', { summary: 'show the current settings and the origin of each', load: () => import('./config.ts') }],
  [
    'completion',
    {
      summary: 'print a script for command completion in a shell',
      load: async () => ({ command: (await import('./completion.ts')).completionOf(COMMANDS) }),
    },
  ],
]);

/** Why the capabilities from outside cannot be used: then nothing may start. */
export const REFUSED: Error | undefined = OUTSIDE instanceof Error ? OUTSIDE : clashOfCommands(CORE, CAPABILITIES);

export const COMMANDS: CommandTable = summed(
  CORE,
  CAPABILITIES.map(({ commands }) => commands ?? new Map()),
);
