/** `nearsky sample`: a report on a list of transients. */
import { readFileSync } from 'node:fs';
import { RA_UNIT_OPTION, requireAnswer, tellWarning, writeOut } from '../../core/cli/ask.ts';
import { type Command, type Invocation, Progress, shownCount, UsageError } from '../../core/cli/command.ts';
import { namesOf } from '../../core/contract/enums.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import { RA_UNIT } from '../../core/documents/parameters.ts';
import { askAsJob, formatOfFile, outputOf } from '../jobs/table_job.ts';
import { sentTable } from '../objects/sent_list.ts';
import { DEFAULT_BRIGHT_ARCSEC, DEFAULT_BRIGHT_MAG, MAX_BRIGHT_ARCSEC } from './limits.ts';
import { KEPT_PATH, SAMPLE_JOBS_PATH } from './parameters.ts';
import { REPORT_FORMATS } from './report_formats.ts';
import type { DescribedSummary } from './summary.ts';

export const command: Command = {
  usage:
    'sample LIST [-o FILE] [--url URL] [--keep TITLE] [--format NAME] [--catalogs NAMES] [--radius ARCSEC] [--bright-mag MAG] [--bright-radius ARCSEC] [--id COLUMN] [--name COLUMN] [--ra COLUMN] [--dec COLUMN] [--frame NAME] [--ra-unit UNIT]',
  description: `Reports on a list of transients: which lie on a star, a galaxy or a quasar of a catalog, and how many
coincidences chance explains. LIST is a table as for match, a text file with a diaObjectId, a TNS name, a
position, or a name with its position per line, or (-) standard input. Prints the summary and a paragraph
for a paper; with --format or -o the whole report (json, or html for a page), or its rows as a table
(latex for a paper). The answer is that of POST /api/sample. Over a data
directory a list has 55 s; a service (--url) makes a job of it.`,
  options: {
    out: { value: 'FILE', short: 'o', help: 'write the report to this file; its name decides the format' },
    url: { value: 'URL', help: 'query the service at this address instead of a data directory' },
    keep: { value: 'TITLE', help: 'keep the list at the service (--url) under this title, and print its link' },
    format: { value: 'NAME', help: `json, ${namesOf([...MATCH_FORMATS, ...REPORT_FORMATS]).join(', ')}` },
    catalogs: { value: 'NAMES', help: 'catalogs to report on, comma-separated (default: all that are registered)' },
    radius: { value: 'ARCSEC', help: 'radius for the object of a position or a name (default: that of matches)' },
    'bright-mag': { value: 'MAG', help: `report stars brighter than this (default ${DEFAULT_BRIGHT_MAG})` },
    'bright-radius': {
      value: 'ARCSEC',
      help: `radius for bright stars, at most ${MAX_BRIGHT_ARCSEC} (default ${DEFAULT_BRIGHT_ARCSEC})`,
    },
    id: { value: 'COLUMN', help: 'column of the diaObjectIds' },
    name: { value: 'COLUMN', help: 'column of the names and labels' },
    ra: { value: 'COLUMN', help: 'column of the right ascensions' },
    dec: { value: 'COLUMN', help: 'column of the declinations' },
    frame: { value: 'NAME', help: 'frame of the positions: ICRS, FK5 J1975, FK4 B1950, galactic' },
    'ra-unit': RA_UNIT_OPTION,
  },
  example: 'nearsky sample supernovae.csv --data ./data -o report.json',
  run,
};

const SENT_AS_GIVEN = ['catalogs', 'id', 'name', 'ra', 'dec', 'frame'];

async function run(invocation: Invocation): Promise<number> {
  const { options, positionals } = invocation;
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0)
    throw new UsageError('sample takes one LIST, or - for standard input', command);
  const out = options.get('out');
  const format = options.get('format') ?? (out === undefined ? undefined : formatOfFile(out, FORMATS, command));
  const search = {
    ...Object.fromEntries(SENT_AS_GIVEN.map(name => [name, options.get(name)])),
    format: format ?? 'json',
    radius_arcsec: options.get('radius'),
    bright_mag: options.get('bright-mag'),
    bright_radius_arcsec: options.get('bright-radius'),
  };
  const title = options.get('keep');
  if (title !== undefined && options.get('url') === undefined)
    throw new UsageError('--keep needs --url: a service keeps the list', command);
  const { body, ra_unit } = sentTable(readFileSync(file === '-' ? 0 : file), invocation.value('ra-unit', RA_UNIT.kind));
  const asked = { path: '/api/sample', search: { ...search, ra_unit }, body };
  if (title !== undefined) {
    const { format: _, ...kept } = asked.search;
    const { body: made } = await invocation.withService(ask =>
      ask({ ...asked, path: KEPT_PATH, search: { ...kept, title } }).then(answer =>
        answer.status === 201 ? answer : requireAnswer(answer),
      ),
    );
    const { id, expires } = JSON.parse(Buffer.from(made).toString()) as {
      readonly id: string;
      readonly expires: string;
    };
    const page = `${options.get('url')!.replace(/\/+$/, '')}/sample?kept=${id}`;
    await writeOut(Buffer.from(`${page} (until ${expires.slice(0, 10)})\n`));
    return 0;
  }
  const isRemote = options.get('url') !== undefined;
  const lines = new Progress();
  const onProgress = ({ of, searched }: RowProgress) => {
    const pace = () => lines.pace(searched, of, perSecond => `${shownCount(perSecond)} inputs`);
    if (of > 0) lines.update(() => `${shownCount(searched)} of ${shownCount(of)} inputs searched, ${pace()}`);
  };
  const job = { path: SAMPLE_JOBS_PATH, does: 'report on the list', onProgress };
  const output = await outputOf(out);
  try {
    const answer = await invocation
      .withService(ask => (isRemote ? askAsJob(ask, asked, job) : ask(asked)).then(requireAnswer), onProgress)
      .finally(() => lines.end());
    tellWarning('sample', answer);
    const isShown = out === undefined && format === undefined;
    await output.write(
      isShown ? Buffer.from(shownReport(JSON.parse(Buffer.from(answer.body).toString()))) : answer.body,
    );
    await output.end();
    return 0;
  } catch (error) {
    await output.drop();
    throw error;
  }
}

const FORMATS = [{ name: 'json', extensions: ['json'] } as const, ...MATCH_FORMATS, ...REPORT_FORMATS];

interface Report {
  readonly rows: readonly { readonly flags: readonly string[]; readonly label: string | null }[];
  readonly summary: DescribedSummary;
  readonly methods: string;
}

function shownReport({ summary, methods }: Report): string {
  const lines = [`${summary.inputs} inputs: ${counted(summary.statuses)}`];
  for (const [name, catalog] of Object.entries(summary.catalogs)) {
    const { searched, outside_footprint, coincident, expected_by_chance, expected_interval, verdicts } = catalog;
    lines.push(
      `${name}: ${searched} searched, ${outside_footprint} outside its footprint; ${coincident} with a source (${counted(verdicts) || 'none'}), ` +
        `${Number(expected_by_chance.toPrecision(3))} expected by chance (95%: ${expected_interval[0]} to ${expected_interval[1]})`,
    );
  }
  const { with_star_or_quasar, searched, fraction, interval } = summary.contaminated;
  if (fraction !== null)
    lines.push(
      `on a star or a quasar of some catalog: ${with_star_or_quasar} of ${searched} (${percent(fraction)}; 95%: ${interval!.map(percent).join(' to ')})`,
    );
  lines.push(
    `near a bright star: ${summary.with_bright_star}; with further objects at the same place: ${summary.with_same_place}`,
  );
  return `${[...lines, '', methods].join('\n')}\n`;
}

const percent = (value: number) => `${(100 * value).toFixed(1)}%`;
const counted = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
    .join(', ');
