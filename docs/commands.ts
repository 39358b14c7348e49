/**
 * Prints commands.md: what `nearsky COMMAND --help` prints, for every command.
 *
 *   node docs/commands.ts >docs/commands.md
 */
import { commandHelp } from '../src/commands/cli.ts';
import { COMMANDS } from '../src/commands/table.ts';

const HEAD = `# Commands

Each command prints its own section of this page with \`nearsky COMMAND --help\`. This page is made by \`node docs/commands.ts\`.
`;

/** All of commands.md. */
export async function commandsPage(): Promise<string> {
  const sections: string[] = [];
  for (const [name, { load }] of [...COMMANDS].sort(([a], [b]) => (a < b ? -1 : 1)))
    sections.push(`## ${name}\n\n\`\`\`text\n${commandHelp((await load()).command).trimEnd()}\n\`\`\`\n`);
  return [HEAD, ...sections].join('\n');
}

if (import.meta.main) process.stdout.write(await commandsPage());
