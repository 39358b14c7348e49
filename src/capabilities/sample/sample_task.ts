/** The task `sample`: reads the catalogs at the positions of a sample, and writes the report. */
import { toJson } from '@nearsky/astrotables/json';
import { type CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import { openCatalog, type PlannedCatalog } from '../crossmatch/plan.ts';
import { bibtexOf, methodsOf } from './methods.ts';
import type { AboutReport, SampleOptions } from './options.ts';
import { type PositionRead, readCatalog } from './read_catalog.ts';
import type { Resolved } from './resolve.ts';
import { reportRow, type SampleRow } from './rows.ts';
import { type DescribedSummary, Summary } from './summary.ts';

export interface SampleTask extends Task<SampleAnswer>, SampleOptions, AboutReport {
  readonly module: 'src/capabilities/sample/sample_task';
  readonly kind: 'sample';
  readonly rows: readonly Resolved[];
}

export interface SampleAnswer {
  /** The report as JSON. */
  readonly json: string;
  /** Why files could not be read, for the log. */
  readonly problems: readonly string[];
}

/** The catalogs of this thread. */
export const registered = new RegisteredCatalogs(registrations => ({
  all: new Catalogs(registrations),
  opened: new Map(registrations.map(registration => [registration.name, openCatalog(registration)])),
}));

export const tasks: Tasks<SampleTask> = { sample: runSample };

async function runSample(task: SampleTask): Promise<SampleAnswer> {
  const { all, opened } = registered.of(currentStore());
  const catalogs = all.all.filter(({ name }) => task.catalogs.includes(name));
  const summary = new Summary(catalogs, task.radiusArcsec);
  const problems: string[] = [];
  const rows = await reportRows(task.rows, catalogs, opened, task, problems);
  for (const [index, row] of rows.entries()) summary.add(row, index);
  const head = toJson(reportHead(task, rows.length));
  const tail = toJson(reportTail(catalogs, summary.described(), task));
  const json = `${head.slice(0, -1)}, "rows": ${toJson(rows)}, ${tail.slice(1)}`;
  return { json, problems };
}

/** The members of a report before its rows. */
export function reportHead(task: SampleOptions & AboutReport, count: number) {
  return {
    provenance: task.provenance,
    journal_entry: task.journalEntry,
    radius_arcsec: task.radiusArcsec,
    bright_mag: task.brightMag,
    bright_radius_arcsec: task.brightArcsec,
    count,
  };
}

/** The members after them. */
export function reportTail(
  catalogs: readonly CatalogDefinition[],
  summary: DescribedSummary,
  task: SampleOptions & AboutReport,
) {
  return {
    summary,
    methods: methodsOf(catalogs, summary, task),
    bibtex: bibtexOf(catalogs, task.provenance.service_version),
  };
}

/** The rows of the report, in the order of the inputs. */
export async function reportRows(
  resolved: readonly Resolved[],
  catalogs: readonly CatalogDefinition[],
  opened: ReadonlyMap<string, PlannedCatalog>,
  options: SampleOptions,
  problems: string[],
): Promise<SampleRow[]> {
  const placed = resolved.flatMap(({ position }, index) => (position ? [{ index, ...position }] : []));
  const ra = Float64Array.from(placed, position => position.ra);
  const dec = Float64Array.from(placed, position => position.dec);
  const read = new Map<string, ReadonlyMap<number, PositionRead>>();
  for (const definition of catalogs) {
    const planned = opened.get(definition.name);
    if (!planned) continue;
    const found = await readCatalog(planned, definition, ra, dec, { ...options, ...planned.radius });
    problems.push(...found.problems);
    read.set(definition.name, new Map(placed.map(({ index }, i) => [index, found.read[i]!])));
  }
  return resolved.map((each, index) =>
    reportRow(each, catalogs, name => (read.has(name) ? (read.get(name)!.get(index) ?? 'no_position') : undefined)),
  );
}
