/** The sum of tables of commands: their order, and commands that several capabilities share. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Command, type CommandTable, type Entry, runCommand, UsageError } from '../../../src/core/cli/command.ts';
import { clashOfCommands, summed } from '../../../src/core/cli/command_table.ts';
import { CORE_SETTINGS } from '../../../src/core/config/config.ts';
import { inProcess } from '../../../src/core/in_process.ts';

const test = suite('cli/command_table');

const SERVICES = { inProcess: inProcess([]), serve: async () => assert.unreachable() };

const ran: string[] = [];
const command = (name: string, options: Command['options'] = {}): Command => ({
  usage: `${name} FILE`,
  description: `Writes ${name}.\n\nIt is quick.`,
  options,
  example: name,
  async run() {
    ran.push(name);
    return 0;
  },
});
const entry = (name: string, more: Partial<Entry> = {}): Entry => {
  return { summary: name, load: async () => ({ command: command(name) }), ...more };
};
const tableOf = (...names: string[]): CommandTable => new Map(names.map(name => [name, entry(name)]));

test('commands of capabilities are placed after the commands that they name, or last', () => {
  const more = new Map([
    ['c', entry('c', { after: 'a' })],
    ['d', entry('d', { after: 'c' })],
    ['e', entry('e', { after: 'removed' })],
  ]);
  assert.equal([...summed(tableOf('a', 'b'), [more]).keys()], ['a', 'c', 'd', 'b', 'e']);
});

const at = { value: 'N', help: 'the moment' };
const lines = new Map([
  ['export', entry('as lines', { format: 'lines', load: async () => ({ command: command('lines', { at }) }) })],
]);
const since = { value: 'N', help: 'the first change' };
const tables = new Map([
  [
    'export',
    entry('as tables', { format: 'tables', load: async () => ({ command: command('tables', { since, at }) }) }),
  ],
]);

test('a command in several formats says what each says, and what all say at the end', async () => {
  const { summary, load } = summed(new Map(), [lines, tables]).get('export')!;
  const { usage, description, options } = (await load()).command;
  assert.is(summary, 'as lines, or as tables');
  assert.is(usage, 'lines FILE | tables FILE');
  assert.is(description, 'Writes lines.\n\nWrites tables.\n\nIt is quick.');
  assert.equal(Object.entries(options), [
    ['format', { value: 'FORMAT', help: 'lines (the default) or tables' }],
    ['since', since],
    ['at', at],
  ]);
});

test('--format selects a format; the first one is the default', async () => {
  const { command: both } = await summed(new Map(), [lines, tables]).get('export')!.load();
  for (const args of [[], ['--format', 'lines', '--at', '3'], ['--format', 'tables', '--since', '3']])
    assert.is(await runCommand(both, args, CORE_SETTINGS, SERVICES), 0);
  assert.equal(ran.splice(0), ['lines', 'lines', 'tables']);
  const refused = async (args: string[], why: string) => {
    const error = await runCommand(both, args, CORE_SETTINGS, SERVICES).catch(each => each);
    assert.instance(error, UsageError);
    assert.is(error.message, why);
  };
  await refused(['--since', '3'], '--since needs --format tables');
  await refused(['--format', 'x'], '--format must be one of lines, tables (x was given)');
});

test('two commands of one name clash, unless each has a format of its own', () => {
  const clash = (core: CommandTable, ...tables: CommandTable[]) =>
    clashOfCommands(
      core,
      tables.map((commands, i) => ({ name: `${i}`, commands })),
    )?.message;
  const why = (i: number, name: string) => `Cannot use the capability ${i} because another command is named ${name}`;
  assert.is(clash(tableOf('a'), tableOf('b'), new Map(), lines, tables), undefined);
  assert.is(clash(tableOf('a'), tableOf('b', 'a')), why(0, 'a'));
  assert.is(clash(tableOf('export'), lines), why(0, 'export'));
  assert.is(clash(new Map(), lines, tableOf('export')), why(1, 'export'));
  assert.is(clash(new Map(), lines, lines), why(1, 'export'));
});

test('each format works without the other', async () => {
  const { command: one } = await summed(new Map(), [tables]).get('export')!.load();
  assert.is(one.options.format!.help, 'tables (the default)');
  assert.is(await runCommand(one, ['--since', '3'], CORE_SETTINGS, SERVICES), 0);
  assert.equal(ran.splice(0), ['tables']);
});

test.run();
