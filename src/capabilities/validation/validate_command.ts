/** `nearsky validate`: compares the archive's matches with known classes and with random positions. */
import { requireAnswer } from '../../core/cli/ask.ts';
import { type Command, type Invocation, printResult, table, tell, UsageError } from '../../core/cli/command.ts';
import type { Validation } from './make_validation.ts';
import { runValidation } from './run_validation.ts';

export const command: Command = {
  usage: 'validate [--url URL]',
  description: `Compares the matches of the archive with what is known. First, the transients with a class in the TNS registry that
are stored here: how many of each class have a source in each catalog, and what the catalog says of it. Second,
random positions 30" to 60" from stored objects: how many have a source there, compared with the number that
chance_probability lets expect.

Makes the validation now, stores it in the data directory and prints it. A running service answers with it at
/api/validation and shows it on the page /validation. It can run beside other commands. With --url it prints the
validation that the service has. NEARSKY_VALIDATION_HOURS lets the service make it by itself.`,
  options: { url: { value: 'URL', help: "print this service's validation instead of making one" } },
  example: 'nearsky validate --data ./data',
  run,
};

interface Answered {
  readonly status: 'made' | 'not_made';
  readonly refresh_hours: number | null;
  readonly validation: Validation | null;
}

async function run(invocation: Invocation): Promise<number> {
  if (invocation.positionals.length > 0) throw new UsageError('validate takes no arguments', command);
  if (invocation.options.has('url')) {
    const { body } = await invocation.withService(ask =>
      ask({ path: '/api/validation', search: {} }).then(requireAnswer),
    );
    const answer: Answered = JSON.parse(Buffer.from(body).toString());
    const { validation } = answer;
    printResult(invocation, answer, validation ? describe(validation) : 'The service has no validation yet.');
    return 0;
  }
  const { validation, problems } = await runValidation(invocation.config, 0, { isBackground: false });
  for (const problem of problems) tell(`nearsky validate: ${problem}`);
  printResult(invocation, validation, describe(validation));
  return 0;
}

type Row = [label: string, value: string];

function describe({ made, journal_entry, registry, calibration }: Validation): string {
  const { epoch, classified, stored, transients, groups } = registry;
  const rows: Row[] = [
    ['made', `${made}, journal entry ${journal_entry}`],
    ['registry', epoch === null ? 'not loaded' : `of ${epoch}: ${classified} with a class, ${stored} stored here`],
    ['compared', `${transients}${transients < stored ? ', chosen at random' : ''}`],
    ...groups.flatMap(({ group, classes, ...all }) =>
      all.transients === 0
        ? []
        : [...classRows(group, all), ...classes.flatMap(each => classRows(`  ${each.classification}`, each))],
    ),
    ['random positions', `${calibration.positions}, ${calibration.displacement_arcsec.join('" to ')}" from objects`],
    ...Object.entries(calibration.catalogs).flatMap(([name, { radii, outside_footprint, without_density }]): Row[] => [
      [`  ${name}`, `${outside_footprint} outside its footprint, ${without_density} without a density`],
      ...radii.map(
        ({ radius_arcsec, positions, observed, expected_by_chance: expected, expected_interval: [from, to] }): Row => [
          `    within ${radius_arcsec}"`,
          `${observed} of ${positions} have a source, ${short(expected)} expected (95%: ${from} to ${to})`,
        ],
      ),
    ]),
  ];
  return table(rows);
}

function classRows(
  name: string,
  { transients, catalogs }: Pick<Validation['registry']['groups'][number], 'transients' | 'catalogs'>,
): Row[] {
  return [
    [name, `${transients}`],
    ...Object.entries(catalogs).map(
      ([catalog, { searched, coincident, interval, expected_by_chance, verdicts }]): Row => {
        const said = Object.entries(verdicts).flatMap(([verdict, count]) => (count > 0 ? [`${count} ${verdict}`] : []));
        const share = interval ? ` (95%: ${interval.map(percent).join(' to ')})` : '';
        return [
          `    ${catalog}`,
          `${coincident} of ${searched} searched have a source${share}, ${short(expected_by_chance)} expected by chance${said.length > 0 ? `: ${said.join(', ')}` : ''}`,
        ];
      },
    ),
  ];
}

const percent = (fraction: number) => `${(100 * fraction).toFixed(1)}%`;
const short = (value: number) => `${Number(value.toPrecision(3))}`;
