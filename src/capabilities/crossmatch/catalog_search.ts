/** Searches one catalog for one batch of objects: carries out the plan in the pool and merges the answers. */
import { addReads, noReads } from '@nearsky/hats';
import { PRIOR_COMPLETENESS } from '../../core/contract/position_errors.ts';
import { compareIds, type SourceId } from '../../core/contract/source_ids.ts';
import { likelihoodOf, lnSum, secondNearest, statisticsOf } from '../../core/store/match_statistics.ts';
import type { CrossmatchResult, RecordedOutcome } from '../../core/store/types.ts';
import { type FileMatches, type MatchAnswer, type MatchTask, nearness } from './match_file.ts';
import { yearsSince } from './motion.ts';
import type { OwnRadius } from './own_radius.ts';
import { type FileSearch, type PlannedCatalog, planCatalog } from './plan.ts';

export type Match = CrossmatchResult['matches'][number];

/** A file that could not be read, or that contradicts the catalog's registration. */
export interface ReadProblem {
  readonly catalogName: string;
  readonly kind: 'unreadable' | 'unusable';
  readonly reason: string;
  /** Objects whose disc touches the file's partition. */
  readonly objects: number;
}

interface Best {
  readonly id: SourceId;
  /** See `nearness`. */
  readonly arcsec: number;
  /**
   * The number of sources within the radius in all files so far, and the separation of the second nearest; NaN if there
   * is none.
   */
  count: number;
  second: number;
  /** The sum over all files so far; see `FoundPairs`. */
  lnWeights: number;
  /** Sources per square arcmin around the source. */
  readonly density: number;
  /** See `FoundPairs`. */
  readonly combinedErrorMas: number;
  /** Without statistics. */
  readonly match: Match;
}

/** The objects of a batch that have a position; all arrays are parallel. */
export interface BatchPlaces {
  /** Degrees. */
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  /** Event times, microseconds since 1970. */
  readonly timeUs: Float64Array;
  /** 1σ errors of the positions; NaN if unknown. */
  readonly errorMas: Float64Array;
}

/** The results so far of one catalog for one batch. Objects are given by their index in the batch's positions. */
export class CatalogSearch {
  readonly name: string;
  readonly searches: readonly FileSearch[];
  readonly problems: ReadProblem[] = [];
  readonly #catalog: PlannedCatalog;
  readonly #places: BatchPlaces;
  /** If the sources move: Julian years from the catalog's epoch to each object's time. */
  readonly #years: Float64Array | undefined;
  readonly #radius: OwnRadius;
  readonly #priorCompleteness: number;
  readonly #payloadKeys: readonly string[];
  readonly #covered: readonly boolean[];
  readonly #best = new Map<number, Best>();
  /** Objects that need a file which could not be read or used. */
  readonly #unread = new Set<number>();
  readonly reads = noReads();
  /** Rows that cannot be sources, in the files that were read; the rows of a file that was read twice count twice. */
  rowsPassedOver = 0;

  /**
   * @param radiusArcsec for a catalog without a radius of its own
   * @param priorCompleteness within `PRIOR_COMPLETENESS`: the fraction of objects whose counterpart is in the catalog
   */
  constructor(
    catalog: PlannedCatalog,
    places: BatchPlaces,
    radiusArcsec: number,
    priorCompleteness: number = PRIOR_COMPLETENESS.default,
  ) {
    const { motion } = catalog;
    const years = motion && places.timeUs.map(timeUs => yearsSince(motion.epoch, timeUs));
    this.#radius = catalog.radius ?? { radiusArcsec };
    const { covered, searches } = planCatalog(catalog, places.ra, places.dec, this.#radius.radiusArcsec, years);
    this.name = catalog.registration.name;
    this.searches = searches;
    this.#catalog = catalog;
    this.#places = places;
    this.#years = years;
    this.#priorCompleteness = priorCompleteness;
    this.#payloadKeys = catalog.registration.columns.payload.map(({ key }) => key);
    this.#covered = covered;
  }

  task({ file, hasAllRows, objects }: FileSearch): MatchTask {
    const { registration, motion, errors } = this.#catalog;
    const { location, columns } = registration;
    const pick = (values: Float64Array) => new Float64Array(objects.map(object => values[object]!));
    const objectMas = pick(this.#places.errorMas);
    return {
      module: 'src/capabilities/crossmatch/match_file',
      kind: 'match',
      location,
      file,
      columns,
      ...this.#radius,
      find: 'nearest',
      hasAllRows,
      ra: pick(this.#places.ra),
      dec: pick(this.#places.dec),
      ...(motion && this.#years && { motion: { ...motion, years: pick(this.#years) } }),
      ...(errors && !objectMas.every(Number.isNaN) && { errors: { ...errors, objectMas } }),
    };
  }

  take({ objects }: FileSearch, answer: MatchAnswer<FileMatches>): void {
    addReads(this.reads, answer.reads);
    if (answer.outcome === 'searched') {
      this.rowsPassedOver += answer.matches.rowsPassedOver;
      answer.matches.object.forEach((at, row) => {
        this.#keepNearer(objects[at]!, answer.matches, row);
      });
      return;
    }
    const { outcome: kind, reason } = answer;
    this.problems.push({ catalogName: this.name, kind, reason, objects: objects.length });
    for (const object of objects) this.#unread.add(object);
  }

  /**
   * Keeps the nearest match; at equal separations the lowest id wins. An object near an edge gets an answer from each
   * partition, and from each file of a partition with several files.
   */
  #keepNearer(object: number, matches: FileMatches, row: number): void {
    const id = matches.id[row]!;
    const separationArcsec = matches.separationArcsec[row]!;
    const separationAtEpochArcsec = matches.separationAtEpochArcsec[row]!;
    const arcsec = nearness({ separationArcsec, separationAtEpochArcsec });
    const best = this.#best.get(object);
    let count = matches.sourcesWithinRadius[row]!;
    let lnWeights = matches.lnWeights[row]!;
    let second = matches.secondSeparationArcsec[row]!;
    if (best) {
      count += best.count;
      lnWeights = lnSum(best.lnWeights, lnWeights);
      second = secondNearest([best.arcsec, best.second, arcsec, second]);
      if (best.arcsec < arcsec || (best.arcsec === arcsec && compareIds(best.id, id) <= 0)) {
        Object.assign(best, { count, second, lnWeights });
        return;
      }
    }
    const packed = matches.sources.subarray(matches.sourceEnds[row - 1] ?? 0, matches.sourceEnds[row]);
    this.#best.set(object, {
      id,
      arcsec,
      count,
      second,
      lnWeights,
      density: matches.density[row]!,
      combinedErrorMas: matches.combinedErrorMas[row]!,
      match: {
        catalogName: this.name,
        catalogSourceId: String(id),
        separationArcsec,
        ...(Number.isNaN(separationAtEpochArcsec) ? {} : { separationAtEpochArcsec }),
        source: { keys: this.#payloadKeys, packed },
      },
    });
  }

  /**
   * The outcome of an object. If one of its files could not be read or used, the catalog counts as skipped for the
   * object. A match from another file is then dropped, because the nearest source may be in the unread file. A match
   * outside the footprint proves that the position was searched.
   */
  outcome(object: number): RecordedOutcome {
    if (this.#unread.has(object)) return 'skipped_read_failure';
    return this.#covered[object] || this.#best.has(object) ? 'searched' : 'outside_footprint';
  }

  match(object: number): Match | undefined {
    const best = this.#unread.has(object) ? undefined : this.#best.get(object);
    if (!best) return undefined;
    const { arcsec, density, count, second, combinedErrorMas, lnWeights } = best;
    const likelihood = likelihoodOf(arcsec, combinedErrorMas, lnWeights, this.#priorCompleteness);
    return { ...best.match, statistics: statisticsOf(density, count, second, likelihood) };
  }

  /** Frees the memory for an object whose result was taken. */
  forget(object: number): void {
    this.#best.delete(object);
  }
}
