/** `nearsky config`: the current settings, and the origin of each. */
import { SETTINGS } from '../capabilities.ts';
import {
  type Command,
  type Invocation,
  LISTEN_OPTIONS,
  printResult,
  THREAD_OPTIONS,
  table,
  UsageError,
} from '../core/cli/command.ts';
import {
  ENVIRONMENT_ONLY,
  type Origin,
  type Setting,
  type SettingGroup,
  suggestion,
  type Written,
  withoutPassword,
  written,
} from '../core/config/config.ts';

const INTRODUCTION = [
  'Prints the current settings, all or the named ones, and the origin of each: an option, the',
  'environment, the configuration file, or the default. Pass the same options, environment and --config',
  'as to the command in question. Secrets are never shown. The `values` of --json are a valid configuration file.',
  '',
  'Each setting can be an environment variable or a key of the configuration file, one JSON object: {"API_MAX_IDS": 500}.',
  'A list is comma-separated text, or an array in the file.',
  '',
];

export const command: Command = {
  usage: 'config [SETTING...]',
  description: [
    ...INTRODUCTION,
    ...SETTINGS.groups.flatMap(group => [`${group.title}:`, ...entries(group).flatMap(describe), '']),
    'Environment only:',
    ...Object.entries(ENVIRONMENT_ONLY).flatMap(([name, { help }]) => [`  ${name}`, `      ${help}`]),
  ].join('\n'),
  pageDescription: [...INTRODUCTION, 'The list of the settings that follows here is docs/settings.md.'].join('\n'),
  options: { ...LISTEN_OPTIONS, ...THREAD_OPTIONS },
  example: 'nearsky config --config nearsky.json',
  run,
};

interface Shown {
  /** `set` or null for a secret. */
  readonly value: Written;
  readonly from: Origin;
}

async function run(invocation: Invocation): Promise<number> {
  const wanted = new Set(invocation.positionals);
  for (const name of wanted) {
    if (!Object.hasOwn(SETTINGS.settings, name))
      throw new UsageError(`${name} is not a setting${suggestion(name, SETTINGS)}`);
  }
  const isWanted = (name: string) => wanted.size === 0 || wanted.has(name);
  const groups = SETTINGS.groups
    .map(group => {
      const shown = entries(group).filter(([name]) => isWanted(name));
      return {
        title: group.title,
        rows: shown.map(([name, setting]) => [name, show(name, setting, invocation)] as const),
      };
    })
    .filter(({ rows }) => rows.length > 0);
  const credentials = wanted.size === 0 ? environmentOnly() : {};
  printResult(invocation, toJson(groups, credentials), toText(groups, credentials));
  return 0;
}

type Groups = readonly { readonly title: string; readonly rows: readonly (readonly [string, Shown])[] }[];

function entries({ settings }: SettingGroup): [string, Setting<unknown>][] {
  return Object.entries(settings);
}

function show(name: string, setting: Setting<unknown>, { config, origins }: Invocation): Shown {
  const from = origins.get(name)!;
  const value = (config as Readonly<Record<string, unknown>>)[name];
  if (setting.secret) return { value: value === null ? null : 'set', from };
  return { value: withoutPasswords(written(setting, value)), from };
}

function withoutPasswords(value: Written): Written {
  if (typeof value === 'string') return withoutPassword(value);
  return Array.isArray(value) ? value.map(withoutPasswords) : value;
}

/** The variables that can only be set in the environment, and whether each is set. */
function environmentOnly(): Record<string, boolean> {
  return Object.fromEntries(Object.keys(ENVIRONMENT_ONLY).map(name => [name, Boolean(process.env[name])]));
}

function toJson(groups: Groups, environmentOnly: Readonly<Record<string, boolean>>) {
  const rows = groups.flatMap(group => group.rows);
  const isSecret = (name: string) => SETTINGS.settings[name]!.secret;
  const plain = rows.filter(([name]) => !isSecret(name));
  return {
    values: Object.fromEntries(plain.map(([name, { value }]) => [name, value])),
    secrets: Object.fromEntries(rows.flatMap(([name, { value }]) => (isSecret(name) ? [[name, value !== null]] : []))),
    from: Object.fromEntries(rows.map(([name, { from }]) => [name, from])),
    environment_only: environmentOnly,
  };
}

function toText(groups: Groups, environmentOnly: Readonly<Record<string, boolean>>): string {
  const width = Math.max(...groups.flatMap(({ rows }) => rows.map(([name]) => name.length)));
  const sections = groups.map(({ title, rows }) => {
    const lines = rows.map(([name, { value, from }]): [string, string] => [
      `  ${name.padEnd(width)}`,
      `${from.padEnd(11)}  ${textOf(value)}`,
    ]);
    return `${title}\n${table(lines)}`;
  });
  const variables = Object.entries(environmentOnly).map(([name, isSet]): [string, string] => [
    `  ${name.padEnd(width)}`,
    isSet ? 'set' : 'unset',
  ]);
  if (variables.length > 0) sections.push(`Environment only\n${table(variables)}`);
  return sections.join('\n\n');
}

function textOf(value: Written): string {
  if (value === null) return '(unset)';
  if (typeof value !== 'object') return String(value);
  return value.length > 0 ? value.map(textOf).join(', ') : '(none)';
}

/** The help lines for one setting. */
function describe([name, setting]: readonly [string, Setting<unknown>]): string[] {
  const shown = setting.defaultNote ?? textOf(written(setting, setting.default));
  return [`  ${name}`, `      ${setting.help}`, `      ${setting.must}; default ${shown}`];
}
