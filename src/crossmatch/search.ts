/** Searches one catalog for one batch of objects: carries out the plan in the pool and merges the answers. */
import { addReads, noReads } from '../catalogs/catalog_files.ts';
import type { CrossmatchResult, RecordedOutcome } from '../store/types.ts';
import type { FileMatches, MatchAnswer, MatchTask } from './match_file.ts';
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
  readonly id: bigint;
  readonly separationArcsec: number;
  readonly match: Match;
}

/** The results so far of one catalog for one batch. Objects are ordinals in the batch's positions. */
export class CatalogSearch {
  readonly name: string;
  readonly searches: readonly FileSearch[];
  readonly problems: ReadProblem[] = [];
  readonly #catalog: PlannedCatalog;
  readonly #ra: Float64Array;
  readonly #dec: Float64Array;
  readonly #radiusArcsec: number;
  readonly #payloadKeys: readonly string[];
  readonly #covered: readonly boolean[];
  readonly #best = new Map<number, Best>();
  readonly #unread = new Set<number>();
  /** Objects that need a file which contradicts the registration. */
  readonly #unusable = new Set<number>();
  readonly reads = noReads();
  /** Rows that cannot be sources, in the files that were read; a file that was read twice counts twice. */
  rowsPassedOver = 0;

  constructor(catalog: PlannedCatalog, ra: Float64Array, dec: Float64Array, radiusArcsec: number) {
    const { covered, searches } = planCatalog(catalog, ra, dec, radiusArcsec);
    this.name = catalog.registration.name;
    this.searches = searches;
    this.#catalog = catalog;
    this.#ra = ra;
    this.#dec = dec;
    this.#radiusArcsec = radiusArcsec;
    this.#payloadKeys = catalog.registration.columns.payload.map(({ key }) => key);
    this.#covered = covered;
  }

  task({ file, objects }: FileSearch): MatchTask {
    const { location, columns } = this.#catalog.registration;
    return {
      kind: 'match',
      location,
      file,
      columns,
      radiusArcsec: this.#radiusArcsec,
      find: 'nearest',
      ra: new Float64Array(objects.map(object => this.#ra[object]!)),
      dec: new Float64Array(objects.map(object => this.#dec[object]!)),
    };
  }

  take({ objects }: FileSearch, answer: MatchAnswer): void {
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
    const lacking = kind === 'unusable' ? this.#unusable : this.#unread;
    for (const object of objects) lacking.add(object);
  }

  /**
   * Keeps the nearest match; among equal separations the lowest id wins. An object near an edge has an answer from each
   * partition, and from each part of a partition in parts.
   */
  #keepNearer(object: number, matches: FileMatches, row: number): void {
    const id = matches.id[row]!;
    const separationArcsec = matches.separationArcsec[row]!;
    const best = this.#best.get(object);
    if (
      best &&
      (best.separationArcsec < separationArcsec || (best.separationArcsec === separationArcsec && best.id <= id))
    )
      return;
    const packed = matches.sources.subarray(matches.sourceEnds[row - 1] ?? 0, matches.sourceEnds[row]);
    this.#best.set(object, {
      id,
      separationArcsec,
      match: {
        catalogName: this.name,
        catalogSourceId: String(id),
        separationArcsec,
        source: { keys: this.#payloadKeys, packed },
      },
    });
  }

  /**
   * The outcome of an object. Where one of its files could not be read, the catalog counts as skipped for the object
   * and a match from another file is dropped, because the nearest source may be in the unread file. A match outside the
   * footprint shows that the place was searched. Undefined where a file contradicts the registration: the registration
   * must be mended before there is an outcome.
   */
  outcome(object: number): RecordedOutcome | undefined {
    if (this.#unusable.has(object)) return undefined;
    if (this.#unread.has(object)) return 'skipped_read_failure';
    return this.#covered[object] || this.#best.has(object) ? 'searched' : 'outside_footprint';
  }

  match(object: number): Match | undefined {
    return this.#unread.has(object) ? undefined : this.#best.get(object)?.match;
  }

  /** Frees the memory of an object whose result was taken. */
  forget(object: number): void {
    this.#best.delete(object);
  }
}
