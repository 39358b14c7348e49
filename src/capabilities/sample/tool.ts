/** The tool of the chat connector that reports on a sample (docs/contract.md, Connector). */
import { parseJson, toJson } from '@nearsky/astrotables/json';
import { SentNumber, type SentObject, type SentValue } from '../../core/base/json_reader.ts';
import type { Config } from '../../core/config/config.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import type { NamedTool, ToolRun } from '../../core/http/tool.ts';
import { answerText } from '../connector/answer_text.ts';
import { shellQuote } from '../connector/recipes.ts';
import { connectorSettings } from '../connector/settings.ts';
import { CAVEATS } from '../connector/tools.ts';
import { MAX_LABEL, MAX_SAMPLE_ROWS } from './limits.ts';
import { parseSample } from './parse_sample.ts';
import { askReport } from './report_sample.ts';
import type { SampleRow } from './rows.ts';
import type { DescribedSummary } from './summary.ts';

/** The part of an answer that a command with all inputs may take. */
const COMMAND_PART = 0.2;

interface Report {
  readonly journal_entry: number;
  readonly radius_arcsec: number;
  readonly rows: readonly SampleRow[];
  readonly summary: DescribedSummary;
  readonly methods: string;
}

const OUTPUT = {
  type: 'object',
  properties: {
    journal_entry: { type: 'integer', description: 'The state of the archive' },
    radius_arcsec: { type: 'number', description: 'The radius of a coincidence' },
    summary: { type: 'object', description: 'The inputs by status, and for each catalog what was searched and found' },
    methods: { type: 'string', description: 'A paragraph for a paper' },
    rows_total: { type: 'integer' },
    rows_returned: { type: 'integer' },
    truncated: { type: 'boolean', description: 'Whether there are more rows, which full_results tells how to get' },
    full_results: { type: 'object', description: 'A shell command for the whole report, with BibTeX' },
    rows: { type: 'array', items: { type: 'object' }, description: 'Rows with a source, a flag or an error first' },
  },
  required: ['journal_entry', 'summary', 'methods', 'rows_total', 'rows_returned', 'truncated', 'rows'],
};

export const tools: readonly NamedTool[] = [
  {
    name: 'report_on_rubin_sample',
    title: 'Report on a sample of transients',
    describe: () =>
      `A report on a list of 1 to ${MAX_SAMPLE_ROWS} transients: how many lie on a catalog source, what the catalogs say these are (star, galaxy, quasar), how many ` +
      'coincidences chance explains, how many positions were never searched, and which are near a bright star. The summary comes first, then as many rows as fit. ' +
      'Judge from expected_by_chance beside coincident: the sum of chance_probability over the sources is something else. A verdict is about the source: it classifies no ' +
      `transient. ${CAVEATS}`,
    properties: () => ({
      inputs: {
        type: 'array',
        minItems: 1,
        maxItems: MAX_SAMPLE_ROWS,
        items: {
          anyOf: [
            { type: 'string', description: 'A diaObjectId in decimal digits, or a TNS name' },
            {
              type: 'object',
              properties: {
                ra_deg: { type: 'number', description: 'Right ascension, ICRS degrees' },
                dec_deg: { type: 'number', description: 'Declination, ICRS degrees' },
                label: { type: 'string', maxLength: MAX_LABEL, description: 'Names its row' },
              },
              required: ['ra_deg', 'dec_deg'],
            },
          ],
        },
        description: 'Ids, names, and positions',
      },
      catalogs: { type: 'array', items: { type: 'string' }, description: 'Only these catalogs; by default all' },
    }),
    required: ['inputs'],
    refusesOthers: true,
    outputSchema: OUTPUT,
    prepare: (args, { config, catalogs }) => {
      const given = args.get('inputs');
      if (!Array.isArray(given))
        throw invalidParameter('inputs', `an array of 1 to ${MAX_SAMPLE_ROWS} inputs`, toJson(given ?? null));
      const body: SentObject = new Map([
        ['inputs', given.map(apiInput)],
        ['catalogs', args.get('catalogs') ?? null],
      ]);
      return reportTool(parseSample(body, config, catalogs), body);
    },
  },
];

/** An input in the form of the API. Malformed ones become rows that say so. */
function apiInput(given: SentValue): SentValue {
  if (typeof given === 'string') {
    const text = given.trim();
    return new Map(
      /^\d+$/.test(text)
        ? [
            ['kind', 'id'],
            ['diaObjectId', text],
          ]
        : [
            ['kind', 'tns'],
            ['name', text],
          ],
    );
  }
  // A number may have lost digits already.
  if (given instanceof SentNumber || !(given instanceof Map)) return given;
  const names = new Map([
    ['ra_deg', 'ra'],
    ['dec_deg', 'dec'],
  ]);
  return new Map([
    ['kind', 'position'],
    ...Array.from(given, ([name, value]) => [names.get(name) ?? name, value] as const),
  ]);
}

const reportTool =
  (asked: ReturnType<typeof parseSample>, body: SentObject): ToolRun =>
  async context => {
    const { service, base } = context;
    const { json } = await askReport(service, context, asked);
    const report = parseJson(json) as unknown as Report;
    const maxCharacters = connectorSettings.of(service.config as Config).MCP_MAX_RESULT_CHARS;
    const { galactic_latitude: _, duplicates, ...summary } = report.summary;
    const worth = ({ catalogs, flags }: SampleRow) =>
      flags.length > 0 || Object.values(catalogs).some(cell => cell.catalog_source_id !== null) ? 0 : 1;
    const all = report.rows
      .map((row, index) => ({ row, index }))
      .sort((a, b) => worth(a.row) - worth(b.row) || a.index - b.index);
    const rows = all.map(({ row, index }) => shownRow(row, index));
    const full = fullResults(base, body, maxCharacters);
    for (;;) {
      const truncated = rows.length < all.length;
      const text = answerText({
        journal_entry: report.journal_entry,
        radius_arcsec: report.radius_arcsec,
        summary: { ...summary, rows_of_the_same_object: duplicates.rows },
        methods: report.methods,
        rows_total: all.length,
        rows_returned: rows.length,
        truncated,
        full_results: full,
        rows,
      });
      if (text.length <= maxCharacters || rows.length === 0) return text;
      rows.length = Math.floor(rows.length * 0.9);
    }
  };

/** A row without what is null. Catalogs without a source are listed by their outcome. */
function shownRow({ label, status, diaObjectId_str, tns, catalogs, flags }: SampleRow, index: number) {
  const cells = Object.entries(catalogs);
  const sources = cells.flatMap(([catalog, cell]) =>
    cell.catalog_source_id === null
      ? []
      : [
          {
            catalog,
            catalog_source_id: cell.catalog_source_id,
            separation_arcsec: cell.separation_arcsec,
            chance_probability: cell.chance_probability ?? undefined,
            verdict: cell.verdict,
            verdict_reason: cell.verdict_reason,
          },
        ],
  );
  const others = Map.groupBy(
    cells.filter(([, cell]) => cell.catalog_source_id === null),
    ([, { outcome }]) => outcome,
  );
  return {
    index,
    label,
    status,
    diaObjectId: diaObjectId_str ?? undefined,
    tns: tns ?? undefined,
    sources,
    ...Object.fromEntries(Array.from(others, ([outcome, of]) => [outcome, of.map(([catalog]) => catalog)])),
    flags: flags.length > 0 ? flags : undefined,
  };
}

function fullResults(base: string, body: SentObject, maxCharacters: number) {
  const words = ['curl', '-sS', shellQuote(`${base}/api/sample`), '-H', shellQuote('Content-Type: application/json')];
  const whole = [...words, '--data', shellQuote(toJson(body))].join(' ');
  if (whole.length <= COMMAND_PART * maxCharacters) return { note: 'This command has the whole report.', curl: whole };
  const note = 'This command has the whole report, with the inputs in the file inputs.json: {"inputs": [...]}.';
  return { note, curl: [...words, '--data', '@inputs.json'].join(' ') };
}
