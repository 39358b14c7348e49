/** What shells complete, in the shells themselves; and the man pages, as mandoc reads them. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manPages } from '../../docs/man.ts';
import { COMMANDS } from '../../src/commands/table.ts';
import { commandHelp } from '../../src/core/cli/command.ts';
import { start, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';

const test = suite('commands/completion');
const without = (program: string, arg = '--version') =>
  spawnSync(program, [arg]).error ? `there is no ${program}` : undefined;

/** The lines that a shell prints for a program, whose first argument is the script of completion. */
function inShell(shell: string, program: readonly string[], body: (complete: (line: string) => string[]) => void) {
  return withDirectory(async directory => {
    const { code, stdout, stderr } = await start(['completion', shell]).finished;
    assert.is(code, 0, stderr);
    const script = join(directory, 'script');
    writeFileSync(script, stdout);
    body(line => {
      const { stdout: printed, stderr: said } = spawnSync(program[0]!, [...program.slice(1), script, line], {
        cwd: directory,
        encoding: 'utf8',
      });
      assert.is(said, '', line);
      return printed.split('\n').filter(each => each !== '');
    });
  });
}

/** Options as the help of a command prints them. */
async function optionsOf(command: string): Promise<string[]> {
  const help = commandHelp((await COMMANDS.get(command)!.load()).command);
  return [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map(([, option]) => option!).sort();
}

const BASH = `source "$0"; IFS=' ' read -ra COMP_WORDS <<<"$1"; [[ $1 == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); compopt() { :; }; _nearsky; printf '%s\\n' "\${COMPREPLY[@]}"`;
needs(test, without('bash'))('bash completes commands, options, their values and files', async () => {
  const words = await optionsOf('ingest');
  await inShell('bash', ['bash', '-c', BASH], complete => {
    assert.equal(complete('nearsky ').sort(), [...COMMANDS.keys(), 'help', '--help', '--version'].sort());
    assert.equal(complete('nearsky ser'), ['serve']);
    assert.equal(complete('nearsky ingest --').sort(), words);
    assert.equal(complete('nearsky ingest --broker l'), ['lasair']);
    assert.equal(complete('nearsky catalog ').sort(), [
      'add',
      'check',
      'compare',
      'list',
      'recipes',
      'remove',
      'replace',
    ]);
    assert.equal(complete('nearsky ingest scr'), ['script'], 'a file');
    assert.equal(complete('nearsky serve --port '), []);
  });
});

needs(test, without('fish'))('fish completes them with what they mean', async () => {
  const words = await optionsOf('ingest');
  await inShell('fish', ['fish', '--no-config', '-c', 'source $argv[1]; complete -C $argv[2]'], complete => {
    const names = (line: string) => complete(line).map(each => each.split('\t')[0]!);
    assert.equal(names('nearsky ').sort(), [...COMMANDS.keys(), 'help'].sort());
    assert.equal(complete('nearsky ser'), [`serve\t${COMMANDS.get('serve')!.summary}`]);
    assert.equal(
      names('nearsky ingest --')
        .filter(name => name.startsWith('--'))
        .sort(),
      words,
    );
    assert.equal(names('nearsky ingest --broker l'), ['lasair']);
    assert.equal(names('nearsky catalog ').sort(), ['add', 'check', 'compare', 'list', 'recipes', 'remove', 'replace']);
    assert.equal(names('nearsky ingest scr'), ['script'], 'a file');
  });
});

/** An interactive shell in which Tab is pressed after a line. Prints the resulting line. */
const ZSH = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PROMPT=; autoload -U compinit; compinit -u -D; show() { print -r -- \\"<\\$BUFFER>\\"; BUFFER=; zle accept-line }
zle -N show; bindkey '^X' show; source $1; echo rea''dy"
zpty -r shell seen '*ready*'
zpty -w -n shell "$2"$'\\t\\x18'
zpty -r shell seen '*<nearsky*>*'
print -r -- "\${\${seen##*<}%%>*}"
zpty -d shell`;
needs(test, without('zsh'))('zsh completes them', () =>
  inShell('zsh', ['zsh', '-f', '-c', ZSH, 'zsh'], complete => {
    assert.equal(complete('nearsky ser'), ['nearsky serve ']);
    assert.equal(complete('nearsky ingest --bro'), ['nearsky ingest --broker ']);
    assert.equal(complete('nearsky ingest --broker l'), ['nearsky ingest --broker lasair ']);
    assert.equal(complete('nearsky catalog che'), ['nearsky catalog check ']);
    assert.equal(complete('nearsky ingest scr'), ['nearsky ingest script '], 'a file');
  }),
);

test('a shell that is not known is status 2', async () => {
  const { code, stderr } = await start(['completion', 'ksh']).finished;
  assert.is(code, 2);
  assert.match(stderr, /bash, zsh, fish \(got "ksh"\)/);
});

needs(test, without('mandoc', '-V'))('every command has a man page without a fault, with all its options', async () => {
  const pages = await manPages();
  assert.equal(
    [...pages.keys()].sort(),
    ['nearsky.1', ...[...COMMANDS.keys()].map(name => `nearsky-${name}.1`)].sort(),
  );
  for (const [name, page] of pages) {
    const { stdout: faults } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning'], { input: page, encoding: 'utf8' });
    assert.is(faults.replace(/^.*missing date.*\n/gm, ''), '', name);
    const { stdout: shown } = spawnSync('mandoc', ['-T', 'html', '-O', 'fragment'], { input: page, encoding: 'utf8' });
    const command = /^nearsky-(\w+)\.1$/.exec(name)?.[1];
    if (command === undefined) continue;
    for (const option of await optionsOf(command)) assert.match(shown, option);
    // Text that begins with the name of a subcommand is a separate paragraph; a continued sentence is not.
    const { usage } = (await COMMANDS.get(command)!.load()).command;
    for (const [, word] of page.matchAll(/^\.PP\n([a-z]+): /gm)) assert.match(usage, word!, `${name}: ${word}`);
  }
});

test.run();
