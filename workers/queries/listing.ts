/** Answers of the lookup's shape: envelope, objects, marks. */
import type { DetailLevel, QualifiesReason } from '../../src/contract/enums.ts';
import type { StoredObject } from '../../src/store/types.ts';
import { ObjectEncoder, type Wire } from '../encode.ts';
import { type Rendered, rendered } from '../json.ts';
import type { Circle, FilterValues } from '../tasks.ts';
import type { QueryContext } from './context.ts';
import { Qualifier, qualification } from './qualify.ts';
import { type Found, type Row, readRow, separationOf } from './search.ts';

/** What one answer lists. */
export class Listing {
  readonly #context: QueryContext;
  readonly #detail: DetailLevel;
  readonly #filters: FilterValues | null;
  readonly #encoder: ObjectEncoder;
  readonly #qualifier: Qualifier | undefined;

  constructor(context: QueryContext, detail: DetailLevel, filters: FilterValues | null) {
    this.#context = context;
    this.#detail = detail;
    this.#filters = filters;
    this.#encoder = new ObjectEncoder(context.facts, context.store, detail);
    this.#qualifier = filters ? new Qualifier(filters, context) : undefined;
  }

  /** The object of an id; `object` is undefined where it is not stored. */
  objectOfId(diaObjectId: bigint, object: StoredObject | undefined): Wire {
    const entry = object
      ? this.#encoder.entry(object)
      : { diaObjectId, diaObjectId_str: `${diaObjectId}`, status: 'not_in_service' };
    return { ...entry, ...this.marksOfObject(object) };
  }

  /** The objects of a page, in its order. */
  objectsOfRows(circle: Circle, rows: readonly Row[]): Rendered[] {
    return rows.map(row => {
      this.#context.deadline.check();
      const object = readRow(this.#context, row);
      const entry = this.#encoder.entry(object);
      const separation_arcsec = separationOf(this.#context, circle, row);
      return rendered({ ...entry, separation_arcsec, ...this.marksOfObject(object) });
    });
  }

  /** Nothing without filters, here and below. */
  marksOfObject(object: StoredObject | undefined): Wire {
    return this.#qualifier ? qualification(this.#qualifier.reasonOf(object)) : {};
  }

  /** The marks of a position or a name, over everything that it found. */
  marksOfFound({ status, rows }: Pick<Found, 'status' | 'rows'>): Wire {
    if (!this.#qualifier) return {};
    if (!rows || rows.length === 0) {
      return { qualifying_total: rows ? 0 : null, ...qualification(status as QualifiesReason) };
    }
    const qualifying = this.#qualifier.countQualifying(rows);
    return {
      qualifying_total: qualifying,
      ...qualification(qualifying > 0 ? 'meets_filters' : 'no_object_meets_filters'),
    };
  }

  marksOfInvalid(): Wire {
    return this.#qualifier ? qualification('invalid_input') : {};
  }

  /** The whole answer. To be called when everything is listed. */
  answer(results: readonly unknown[], truncated: boolean, page: Wire = {}): Wire {
    return {
      provenance: this.#context.facts.provenance,
      detail: this.#detail,
      count: results.length,
      provenance_sets: this.#encoder.provenanceSets,
      truncated,
      results,
      ...page,
      filters: this.#filters ? Object.fromEntries(this.#filters) : undefined,
    };
  }
}
