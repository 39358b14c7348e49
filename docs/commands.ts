/**
 * Prints commands.md: what `nearsky COMMAND --help` prints, for every command.
 *
 *   node docs/commands.ts >docs/commands.md
 */
import { readdirSync } from 'node:fs';
import { type Command, commandHelp } from '../src/commands/cli.ts';

const HEAD = `# Commands

Each command prints its own section of this page with \`nearsky COMMAND --help\`. This page is made by \`node docs/commands.ts\`.
`;

/** All of commands.md. */
export async function commandsPage(): Promise<string> {
  const directory = new URL('../src/commands/', import.meta.url);
  const sections: string[] = [];
  for (const file of readdirSync(directory).sort()) {
    const { command }: { readonly command?: Command } = await import(new URL(file, directory).href);
    if (command)
      sections.push(`## ${command.usage.split(' ')[0]}\n\n\`\`\`text\n${commandHelp(command).trimEnd()}\n\`\`\`\n`);
  }
  return [HEAD, ...sections].join('\n');
}

if (import.meta.main) process.stdout.write(await commandsPage());
