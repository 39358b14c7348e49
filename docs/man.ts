/**
 * Writes the man pages, nearsky.1 and nearsky-COMMAND.1, into a directory, and prints their paths as JSON:
 *
 *   node docs/man.ts DIRECTORY
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../src/commands/table.ts';
import { type Command, optionsOf, optionText, usagesOf } from '../src/core/cli/command.ts';
import { paragraphsOf } from '../src/core/cli/wrap.ts';
import { loadConfig } from '../src/core/config/config.ts';

/** A text as roff: backslashes, hyphens, and lines that begin like a request. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');

const head = (name: string, summary: string) => [
  `.TH ${name.toUpperCase()} 1 "" "nearsky ${loadConfig().APP_VERSION}"`,
  '.SH NAME',
  `${roff(name)} \\- ${roff(summary)}`,
];

function commandPage(name: string, summary: string, command: Command): string {
  const synopsis = usagesOf(command).flatMap((usage, i) => [...(i === 0 ? [] : ['.br']), roff(usage)]);
  const description = paragraphsOf(command.description).flatMap(paragraph =>
    paragraph === '' ? [] : ['.PP', roff(paragraph.trim())],
  );
  const options = Object.entries(optionsOf(command)).flatMap(([option, each]) => [
    '.TP',
    `\\fB${roff(optionText(option, each))}\\fR`,
    roff(each.help.replace(/\s+/g, ' ')) + (each.setting ? ` [${each.setting}]` : ''),
  ]);
  return [
    ...head(`nearsky-${name}`, summary),
    '.SH SYNOPSIS',
    ...synopsis,
    '.SH DESCRIPTION',
    ...description.slice(1),
    '.SH OPTIONS',
    'In brackets: the environment variable or file key with the same effect.',
    ...options,
    '.SH EXAMPLES',
    '.nf',
    roff(command.example),
    '.fi',
    '.SH SEE ALSO',
    '.BR nearsky (1)',
    '',
  ].join('\n');
}

/** Each man page by its file name. */
export async function manPages(): Promise<Map<string, string>> {
  const pages = new Map<string, string>();
  const list: string[] = [];
  for (const [name, { summary, load }] of COMMANDS) {
    pages.set(`nearsky-${name}.1`, commandPage(name, summary, (await load()).command));
    list.push('.TP', `.BR nearsky\\-${name} (1)`, roff(summary));
  }
  const main = [
    ...head('nearsky', 'which catalog sources lie at the position of a Rubin alert object'),
    '.SH SYNOPSIS',
    'nearsky COMMAND [OPTIONS]',
    '.SH COMMANDS',
    ...list,
    '',
  ];
  return pages.set('nearsky.1', main.join('\n'));
}

if (import.meta.main) {
  const directory = process.argv[2];
  if (directory === undefined) throw new Error('Name the directory of the man pages: node docs/man.ts DIRECTORY');
  mkdirSync(directory, { recursive: true });
  const pages = [...(await manPages())].map(([name, page]) => [join(directory, name), page] as const);
  for (const [path, page] of pages) writeFileSync(path, page);
  console.log(JSON.stringify(pages.map(([path]) => path).sort()));
}
