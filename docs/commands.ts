/**
 * Prints commands.md: what `nearsky COMMAND --help` prints, for every command. The settings are in settings.md only.
 *
 *   node docs/commands.ts >docs/commands.md
 */

import { COMMANDS } from '../src/commands/table.ts';
import { commandHelp } from '../src/core/cli/command.ts';

const HEAD = `# Commands

Each command prints its own section of this page with \`nearsky COMMAND --help\`. This page is made by \`node docs/commands.ts\`.
`;

/** All of commands.md. */
export async function commandsPage(): Promise<string> {
  const sections: string[] = [];
  for (const [name, { load }] of [...COMMANDS].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { command } = await load();
    const help = commandHelp({ ...command, description: command.pageDescription ?? command.description });
    sections.push(`## ${name}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`);
  }
  return [HEAD, ...sections].join('\n');
}

if (import.meta.main) process.stdout.write(await commandsPage());
