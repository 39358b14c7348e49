/** One catalog searched for one batch of objects: its plan carried out in the pool, its answers put together. */
import { addReads, noReads } from '../catalogs/catalog_files.ts';
import type { CrossmatchResult, RecordedOutcome } from '../store/types.ts';
import type { FileMatches, MatchAnswer, MatchTask } from './match_file.ts';
import { type FileSearch, type PlannedCatalog, planCatalog } from './plan.ts';

export type Match = CrossmatchResult['matches'][number];

/** A file that could not be read, or that is not what the catalog's registration says. */
export interface ReadProblem {
  readonly catalogName: string;
  readonly kind: 'unreadable' | 'unusable';
  readonly reason: string;
  /** Objects whose disc touches its partition. */
  readonly objects: number;
}

interface Best {
  readonly id: bigint;
  readonly separationArcsec: number;
  readonly match: Match;
}

/** What is known so far of one catalog for one batch; objects are ordinals in the batch's positions. */
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
  /** Of objects that a file is wanted for that is not what the registration says. */
  readonly #unusable = new Set<number>();
  readonly reads = noReads();
  /** Rows of the files that were read which can be no source, a file that was read twice counted twice. */
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
      ra: Float64Array.from(objects, object => this.#ra[object]!),
      dec: Float64Array.from(objects, object => this.#dec[object]!),
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
   * Nearest first; of equal separations the lowest id. An object near an edge has an answer from each partition, and
   * from each part of a partition in parts.
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
   * Where one of the files that an object needs could not be read, the catalog counts as skipped for it and a match
   * from another is dropped: the nearest source may be in the one that was not read. A match found outside the
   * footprint shows that it was searched. Undefined where a file is not what the registration says: that wants mending,
   * not skipping, and until then there is no outcome.
   */
  outcome(object: number): RecordedOutcome | undefined {
    if (this.#unusable.has(object)) return undefined;
    if (this.#unread.has(object)) return 'skipped_read_failure';
    return this.#covered[object] || this.#best.has(object) ? 'searched' : 'outside_footprint';
  }

  match(object: number): Match | undefined {
    return this.#unread.has(object) ? undefined : this.#best.get(object)?.match;
  }

  /** Lets go of what is held for an object whose result is taken. */
  forget(object: number): void {
    this.#best.delete(object);
  }
}
