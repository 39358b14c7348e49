/** The sum of tables of commands. */
import { oneOf } from '../contract/kind.ts';
import { type Command, type CommandTable, type Entry, type Option, UsageError } from './command.ts';

/** All commands in the order in which they are listed: `core`, with those of capabilities placed among them. */
export function summed(core: CommandTable, capabilities: readonly CommandTable[]): CommandTable {
  const names = [...core.keys()];
  const entries = new Map([...core].map(([name, entry]) => [name, [entry]]));
  for (const [name, entry] of capabilities.flatMap(table => [...table]))
    entries.set(name, [...(entries.get(name) ?? []), entry]);
  let left = [...entries.keys()].filter(name => !core.has(name));
  while (left.length > 0) {
    const placed = left.filter(name => names.includes(entries.get(name)![0]!.after ?? ''));
    for (const name of placed) names.splice(names.indexOf(entries.get(name)![0]!.after!) + 1, 0, name);
    // What the others follow is not there.
    if (placed.length === 0) names.push(...left);
    left = left.filter(name => !names.includes(name));
  }
  return new Map(names.map(name => [name, together(entries.get(name)!)]));
}

/** Why these capabilities cannot be used: two commands have the same name, and not two formats. */
export function clashOfCommands(
  core: CommandTable,
  capabilities: readonly { readonly name: string; readonly commands?: CommandTable }[],
): Error | undefined {
  const taken = new Map([...core].map(([name, { format }]) => [name, [format]]));
  for (const { name: capability, commands = [] } of capabilities) {
    for (const [name, { format }] of commands) {
      const formats = taken.get(name) ?? [];
      if (formats.some(other => !other || !format || other === format))
        return new Error(`Cannot use the capability ${capability} because another command is named ${name}`);
      taken.set(name, [...formats, format]);
    }
  }
  return undefined;
}

function together(entries: readonly Entry[]): Entry {
  if (entries[0]!.format === undefined) return entries[0]!;
  return {
    summary: entries.map(({ summary }) => summary).join(', or '),
    async load() {
      const loaded = await Promise.all(entries.map(({ load }) => load()));
      return { command: inFormats(new Map(loaded.map(({ command }, i) => [entries[i]!.format!, command]))) };
    },
  };
}

/** One command of commands that differ in what they write. */
function inFormats(commands: ReadonlyMap<string, Command>): Command {
  const all = [...commands.values()];
  const [standard, ...others] = commands.keys();
  const paragraphs = all.flatMap(({ description }) => description.split('\n\n'));
  const options = all.flatMap(each => Object.entries(each.options));
  const format: Option = { value: 'FORMAT', help: [`${standard} (the default)`, ...others].join(' or ') };
  return {
    usage: all.map(({ usage }) => usage).join(' | '),
    description: lastOnes(paragraphs, paragraph => paragraph).join('\n\n'),
    options: { format, ...Object.fromEntries(lastOnes(options, ([name]) => name)) },
    example: all[0]!.example,
    async run(invocation) {
      const meant = commands.get(invocation.value('format', oneOf([...commands.keys()])) ?? standard!)!;
      for (const option of invocation.options.keys()) {
        const [of] = [...commands].find(([, { options }]) => option in options) ?? [];
        if (of !== undefined && !(option in meant.options)) throw new UsageError(`--${option} needs --format ${of}`);
      }
      return await meant.run(invocation);
    },
  };
}

/** What several formats say is said once, after what only one of them says. */
function lastOnes<T>(all: readonly T[], key: (one: T) => string): T[] {
  return all.filter((one, i) => all.findLastIndex(other => key(other) === key(one)) === i);
}
