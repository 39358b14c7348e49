/** The task `sources`: finds every source of some catalogs near a position, in the catalogs' own files. */
import { Rendered, toJson } from '@nearsky/astrotables/json';
import { type CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import type { NearbyOutcome } from '../../core/contract/enums.ts';
import { compareIds, type SourceId } from '../../core/contract/source_ids.ts';
import { verdictOf } from '../../core/contract/verdict.js';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import {
  likelihoodOf,
  lnSum,
  lnWeight,
  secondNearest,
  statisticsOf,
  worthOf,
} from '../../core/store/match_statistics.ts';
import { releasesOf } from '../../core/store/provenance.ts';
import { appendSources, decodeSources } from '../../core/store/records.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import type { CatalogRelease } from '../../core/store/types.ts';
import { errorsOf } from '../crossmatch/catalog_errors.ts';
import { type FileMatches, runMatch } from '../crossmatch/match_file.ts';
import { openCatalog, type PlannedCatalog, planCatalog } from '../crossmatch/plan.ts';
import { mainMagnitude } from '../objects/photometry.js';

export interface SourcesTask extends Task<SourcesAnswer> {
  readonly module: 'src/capabilities/sources/near_task';
  readonly kind: 'sources';
  /** ICRS degrees. */
  readonly ra: number;
  readonly dec: number;
  /** Inclusive; more than 0 and at most 60. */
  readonly radiusArcsec: number;
  /** The 1σ error of the position, arcsec; undefined if it is unknown. */
  readonly errorArcsec?: number | undefined;
  /** MATCH_PRIOR_COMPLETENESS. */
  readonly priorCompleteness: number;
  /** Undefined to search all catalogs. */
  readonly catalog: string | undefined;
  /** The maximum number of listed sources, at least 1. */
  readonly limit: number;
}

export interface SourcesAnswer {
  /** The number of sources within the radius, whether listed or not. */
  readonly count: number;
  /** The catalogs of the service when the search began, as provenance lists them. */
  readonly releases: readonly CatalogRelease[];
  readonly outcomes: readonly { readonly catalog_name: string; readonly outcome: NearbyOutcome }[];
  /** The list of catalogs as JSON, with the outcome of each. */
  readonly catalogs: string;
  /** The list of sources as JSON. */
  readonly sources: string;
  /** The reasons why files could not be read, for the log. */
  readonly problems: readonly string[];
}

interface Source {
  readonly catalog: number;
  readonly id: SourceId;
  readonly separationArcsec: number;
  /** Sources of the catalog per square arcmin; NaN if unknown. */
  readonly density: number;
  /** See `combinedError`. */
  readonly combinedErrorMas: number;
  readonly ra: number;
  readonly dec: number;
  readonly payload: Readonly<Record<string, unknown>> | null;
}

interface Searched {
  readonly outcome: NearbyOutcome;
  readonly sources: readonly Source[];
  readonly problems: readonly string[];
}

/** The columns of the payload, as in the description of the service. */
function columnsOf({ columns }: CatalogDefinition) {
  return columns.map(({ name, unit = null, ucd = '', description }) => ({
    name: name.toLowerCase(),
    unit,
    ucd,
    description,
  }));
}

/** The opened catalogs, and the JSON of their columns. */
const registered = new RegisteredCatalogs(registrations => {
  const catalogs = new Catalogs(registrations);
  return {
    all: catalogs,
    known: catalogs.all.map(definition => ({ definition, columns: new Rendered(toJson(columnsOf(definition))) })),
    opened: new Map(
      registrations.map(registration => {
        const errors = errorsOf(catalogs.get(registration.name)!, registration.columns);
        return [registration.name, openCatalog(registration, undefined, errors)];
      }),
    ),
  };
});

export const tasks: Tasks<SourcesTask> = { sources: runSources };

async function runSources(task: SourcesTask): Promise<SourcesAnswer> {
  const { all, known, opened } = registered.of(currentStore());
  const asked = known.filter(({ definition }) => (task.catalog ?? definition.name) === definition.name);
  const searched = await Promise.all(
    asked.map(async ({ definition: { name } }, catalog): Promise<Searched> => {
      const planned = opened.get(name);
      if (!planned) return { outcome: 'not_registered', sources: [], problems: [] };
      return await search(planned, catalog, task);
    }),
  );
  const sources = searched
    .flatMap(({ sources }) => sources)
    .sort((a, b) => a.separationArcsec - b.separationArcsec || a.catalog - b.catalog || compareIds(a.id, b.id));
  const catalogs = asked.map(({ definition, columns }, at) => ({
    catalog_name: definition.name,
    outcome: searched[at]!.outcome,
    count: searched[at]!.sources.length,
    columns,
  }));
  const around = searched.map(({ sources }) => ({
    count: sources.length,
    second: secondNearest(sources.map(each => each.separationArcsec)),
    lnWeights: sources
      .map(each => lnWeight(each.separationArcsec, each.combinedErrorMas))
      .reduce(lnSum, Number.NEGATIVE_INFINITY),
  }));
  const listed = sources.slice(0, task.limit).map(source => {
    const { catalog, id, separationArcsec, density, combinedErrorMas, ra, dec, payload } = source;
    const { count, second, lnWeights } = around[catalog]!;
    const likelihood = likelihoodOf(separationArcsec, combinedErrorMas, lnWeights, task.priorCompleteness);
    const { definition } = asked[catalog]!;
    const main = mainMagnitude(definition.photometry, payload);
    const { verdict, reason: verdict_reason } = verdictOf(definition, payload);
    return {
      catalog_name: definition.name,
      catalog_source_id: `${id}`,
      separation_arcsec: separationArcsec,
      ...worthOf({ separationArcsec }, statisticsOf(density, count, second, likelihood)),
      // Not rounded, because one of the listed sources has this separation.
      second_separation_arcsec: Number.isNaN(second) ? null : second,
      magnitude: main?.magnitude ?? null,
      band: main?.letter ?? null,
      verdict,
      verdict_reason,
      ra,
      dec,
      catalog_payload: payload,
    };
  });
  return {
    count: sources.length,
    releases: releasesOf(all, false),
    outcomes: catalogs.map(({ catalog_name, outcome }) => ({ catalog_name, outcome })),
    catalogs: toJson(catalogs),
    sources: toJson(listed),
    problems: searched.flatMap(({ problems }) => problems),
  };
}

/**
 * If one of a catalog's files cannot be read, no source of the catalog is listed, because an incomplete list would look
 * complete. A source outside the footprint proves that the catalog covers the position.
 */
async function search(planned: PlannedCatalog, catalog: number, task: SourcesTask): Promise<Searched> {
  const { location, columns } = planned.registration;
  const [ra, dec] = [Float64Array.of(task.ra), Float64Array.of(task.dec)];
  const { covered, searches } = planCatalog(planned, ra, dec, task.radiusArcsec);
  const { radiusArcsec, errorArcsec } = task;
  const errors = errorArcsec === undefined ? undefined : planned.errors;
  const objectMas = Float64Array.of(1000 * (errorArcsec ?? Number.NaN));
  const answers = await Promise.all(
    searches.map(({ file, hasAllRows }) =>
      runMatch({
        location,
        file,
        columns,
        radiusArcsec,
        find: 'all',
        hasAllRows,
        ra,
        dec,
        ...(errors && { errors: { ...errors, objectMas } }),
      }),
    ),
  );
  const problems = answers.flatMap(answer => (answer.outcome === 'searched' ? [] : answer.reason));
  if (problems.length > 0) return { outcome: 'skipped_read_failure', sources: [], problems };
  const keys = columns.payload.map(({ key }) => key);
  const sources = answers.flatMap(answer =>
    answer.outcome === 'searched' ? sourcesOf(answer.matches, catalog, keys) : [],
  );
  return { outcome: covered[0] || sources.length > 0 ? 'searched' : 'outside_footprint', sources, problems };
}

function sourcesOf(matches: FileMatches, catalog: number, keys: readonly string[]): Source[] {
  const packed = Array.from(matches.sourceEnds, (end, at) => ({
    keys,
    packed: matches.sources.subarray(matches.sourceEnds[at - 1] ?? 0, end),
  }));
  const bytes = appendSources(undefined, packed, () => 0);
  return decodeSources(bytes, () => keys).map(({ ra, dec, payload }, at) => ({
    catalog,
    id: matches.id[at]!,
    separationArcsec: matches.separationArcsec[at]!,
    density: matches.density[at]!,
    combinedErrorMas: matches.combinedErrorMas[at]!,
    ra: ra!,
    dec: dec!,
    payload,
  }));
}
