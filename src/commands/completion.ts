/** `nearsky completion`: scripts for command completion in shells, made from the table of commands. */
import { type Command, type CommandTable, optionsOf, placeholdersOf, UsageError } from '../core/cli/command.ts';

/** The values that an option or a positional argument can have. */
interface Value {
  readonly words: readonly string[];
  readonly isFile: boolean;
}

interface CompletedOption {
  readonly name: string;
  readonly short?: string;
  readonly help: string;
  /** Undefined for a flag. */
  readonly value?: Value;
}

interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly arguments: Value;
  readonly options: readonly CompletedOption[];
}

/** The alternatives of placeholders such as `FILE|all-sky|ORDER`. Words in lower case are literal. */
function valueIn(placeholders: readonly string[]): Value {
  const alternatives = placeholders.flatMap(each => each.split('|')).map(each => each.replace(/\.+$/, ''));
  return {
    words: [...new Set(alternatives.filter(each => /^[a-z][\w-]*$/.test(each)))],
    isFile: alternatives.some(each => each === 'FILE' || each === 'DIR'),
  };
}

async function completed(commands: CommandTable): Promise<Completed[]> {
  const found: Completed[] = [];
  for (const [name, { summary, load }] of commands) {
    const { command } = await load();
    const placeholders = placeholdersOf(command);
    const options = Object.entries(optionsOf(command)).map(([option, { short, help, value }]) => ({
      name: option,
      help,
      ...(short !== undefined && { short }),
      ...(value !== undefined && { value: valueIn([placeholders.values.get(option) ?? value]) }),
    }));
    found.push({ name, summary, arguments: valueIn(placeholders.arguments), options });
  }
  const names: Value = { words: [...commands.keys()], isFile: false };
  return [...found, { name: 'help', summary: 'describe a command', arguments: names, options: [] }];
}

/** A text as one word of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const oneLine = (text: string) => text.replace(/\s+/g, ' ').trim();
const flagsOf = ({ name, short }: CompletedOption) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];

function bash(commands: readonly Completed[]): string {
  const replies = ({ words, isFile }: Value) => `words=${quoted(words.join(' '))}; files=${isFile ? 1 : ''}`;
  const cases = commands.map(each => {
    const valued = each.options.flatMap(option =>
      option.value ? [`        ${flagsOf(option).join('|')}) ${replies(option.value)} ;;`] : [],
    );
    const all = each.options.flatMap(flagsOf).join(' ');
    return [
      `    ${each.name})`,
      '      case $previous in',
      ...valued,
      `        *) ${replies(each.arguments)}; [[ $current == -* ]] && words=${quoted(all)} ;;`,
      '      esac ;;',
    ].join('\n');
  });
  const first = ['--help', '--version', ...commands.map(({ name }) => name)].join(' ');
  return `# Completion of nearsky for bash. To load it: source <(nearsky completion bash)
_nearsky() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words= files=
  if ((COMP_CWORD == 1)); then words=${quoted(first)}; else
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
  esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ $files ]]; then
    local IFS=$'\\n'
    compopt -o filenames
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}
complete -F _nearsky nearsky
`;
}

function zsh(commands: readonly Completed[]): string {
  const escaped = (text: string) => oneLine(text).replace(/[\\[\]:]/g, '\\$&');
  const action = ({ words, isFile }: Value) =>
    isFile && words.length > 0
      ? `{compadd - ${words.join(' ')}; _files}`
      : isFile
        ? '_files'
        : words.length > 0
          ? `(${words.join(' ')})`
          : ' ';
  const cases = commands.map(each => {
    const specs = each.options.flatMap(option =>
      flagsOf(option).map(flag => {
        const value = option.value ? `:${option.name}:${action(option.value)}` : '';
        return `      ${quoted(`${flag}[${escaped(option.help)}]${value}`)}`;
      }),
    );
    return [
      `    ${each.name}) _arguments \\`,
      ...specs.map(spec => `${spec} \\`),
      `      ${quoted(`*:argument:${action(each.arguments)}`)} ;;`,
    ].join('\n');
  });
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${oneLine(summary)}`)}`);
  return `#compdef nearsky
# Completion of nearsky for zsh. To load it: source <(nearsky completion zsh)
_nearsky() {
  local -a commands=(
${described.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    [[ $PREFIX == -* ]] && compadd - --help --version
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${cases.join('\n')}
  esac
}
if [[ $funcstack[1] == _nearsky ]]; then _nearsky "$@"; else compdef _nearsky nearsky; fi
`;
}

function fish(commands: readonly Completed[]): string {
  const escaped = (text: string) => `'${oneLine(text).replace(/[\\']/g, '\\$&')}'`;
  const lines = commands.flatMap(({ name, summary, arguments: given, options }) => {
    const on = `complete -c nearsky -n '__fish_seen_subcommand_from ${name}'`;
    const values = ({ words, isFile }: Value) =>
      `${isFile ? ' -F' : ' -f'}${words.length > 0 ? ` -a ${escaped(words.join(' '))}` : ''}`;
    return [
      `complete -c nearsky -n __fish_use_subcommand -a ${name} -d ${escaped(summary)}`,
      ...(given.isFile || given.words.length > 0 ? [`${on}${values(given)}`] : []),
      ...options.map(({ name: option, short, help, value }) => {
        const letter = short === undefined ? '' : ` -s ${short}`;
        return `${on} -l ${option}${letter}${value ? ` -r${values(value)}` : ''} -d ${escaped(help)}`;
      }),
    ];
  });
  return [
    '# Completion of nearsky for fish. To load it: nearsky completion fish | source',
    'complete -c nearsky -f',
    'complete -c nearsky -n __fish_use_subcommand -l help -d "list the commands"',
    'complete -c nearsky -n __fish_use_subcommand -l version -d "print the version"',
    ...lines,
    '',
  ].join('\n');
}

const SHELLS: ReadonlyMap<string, (commands: readonly Completed[]) => string> = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);

/** @param commands the table of commands, including this one */
export const completionOf = (commands: CommandTable): Command => ({
  usage: 'completion bash|zsh|fish',
  description: `Prints a script with which a shell completes commands, options and their values. For bash put
"source <(nearsky completion bash)" into ~/.bashrc, for zsh "source <(nearsky completion zsh)" after
compinit into ~/.zshrc, for fish write the script to ~/.config/fish/completions/nearsky.fish.`,
  options: {},
  example: 'nearsky completion fish',
  async run({ positionals }) {
    const [shell, ...rest] = positionals;
    const script = shell === undefined || rest.length > 0 ? undefined : SHELLS.get(shell);
    if (!script)
      throw new UsageError(
        `Name one shell of ${[...SHELLS.keys()].join(', ')} (got ${JSON.stringify(positionals.join(' '))})`,
        this,
      );
    process.stdout.write(script(await completed(commands)));
    return 0;
  },
});
