/**
 * Prints settings.md, made of the table of the settings.
 *
 *   node docs/settings.ts >docs/settings.md
 */
import { ENVIRONMENT_ONLY, SETTING_GROUPS, type Setting, written } from '../src/config/config.ts';

const HEAD = `# Settings

An option of the command line beats the environment variable of the setting's name, which beats the JSON file that \`--config\` names, which
beats the default. \`nearsky config\` shows what is in force, and where each value comes from. The file is one JSON object; lists are arrays in it
and have commas between in the environment. A value that cannot be, an unknown key of the file or an unknown variable \`NEARSKY_…\` stops the start
with exit status 2, and so do settings that contradict each other, such as a default page above the largest; a variable of another name that is one slip away from a setting's is logged.
This page is made by \`node docs/settings.ts\`.
`;

/** All of settings.md. */
export function settingsPage(): string {
  const groups = SETTING_GROUPS.map(({ title, settings }) => {
    const rows = Object.entries(settings).map(([name, setting]) => row(name, setting as Setting<unknown>));
    return `## ${title}\n\n| | what it is | default | must be |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  const variables = Object.entries(ENVIRONMENT_ONLY).map(([name, { help, secret }]) => {
    return `| \`${name}\` | ${cell(help)}${secret ? SECRET : ''} |`;
  });
  const environment = `## Read from the environment only\n\n| | what it is |\n|---|---|\n${variables.join('\n')}\n`;
  return [HEAD, ...groups, environment].join('\n');
}

const SECRET = ' Never shown.';

function row(name: string, setting: Setting<unknown>): string {
  const { help, bound, secret, defaultNote } = setting;
  const fallback = setting.default === null ? 'none' : `\`${JSON.stringify(written(setting, setting.default))}\``;
  return `| \`${name}\` | ${cell(help)}${secret ? SECRET : ''} | ${cell(defaultNote ?? fallback)} | ${cell(bound)} |`;
}

/** A bar would end the cell. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

if (import.meta.main) process.stdout.write(settingsPage());
