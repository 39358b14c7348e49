/** Writes answers in the format of a lookup: the envelope, the objects, and the filter marks. */
import { type ByteSink, fragment } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import type { QueryContext, Steps } from '../../core/answers/context.ts';
import { type Marks, type ObjectList, shownStatus } from '../../core/answers/object_writer.ts';
import type { Circle, FilterValues } from '../../core/answers/queries.ts';
import { BRACE, END_OF_LIST, SEPARATOR } from '../../core/answers/shared_fragments.ts';
import type { DetailLevel, ObjectStatus, QualifiesReason } from '../../core/contract/enums.ts';
import { Qualifier, qualification } from './qualify.ts';
import { type Found, type Row, readRow, separationOf } from './search.ts';

const DETAIL = fragment(', "detail": "');
const COUNT = fragment('", "count": ');
const SETS = fragment(', "provenance_sets": {');
const TRUNCATED = fragment('}, "truncated": ');
const RESULTS = fragment(', "results": [');
const INPUT = fragment(', "kind": "position", "input": ');
const NORMALIZED = fragment(', "normalized": {"kind": "position", "ra": ');
const DEC = fragment(', "dec": ');
const RADIUS = fragment(', "radius_arcsec": ');
const POSITION_STATUS = fragment('}, "status": "');

/** The list of results in an answer. Results are written to the body. */
export class Listing {
  readonly #context: QueryContext;
  readonly #detail: DetailLevel;
  readonly #filters: FilterValues | null;
  readonly #objects: ObjectList;
  readonly #qualifier: Qualifier | undefined;

  constructor(context: QueryContext, objects: ObjectList, detail: DetailLevel, filters: FilterValues | null) {
    this.#context = context;
    this.#detail = detail;
    this.#filters = filters;
    this.#objects = objects;
    this.#qualifier = filters ? new Qualifier(filters, context) : undefined;
  }

  /** The status of the object that was read last, or of an id that is not stored. */
  statusOf(isStored: boolean): ObjectStatus {
    const { object, fragments, store } = this.#context;
    return isStored ? shownStatus(object, fragments.current(store, object.current)) : 'not_in_service';
  }

  /** Writes the object of an id: the object that was read last, if the id is stored. */
  objectOfId(diaObjectId: bigint, isStored: boolean): void {
    const marks = this.#marks(isStored);
    if (isStored) this.#objects.add(this.#context.object, 0, { marks });
    else this.#objects.addUnknown(diaObjectId, marks);
  }

  /** Writes the objects of a page, in the page's order. */
  *objectsOfRows(circle: Circle, rows: readonly Row[]): Steps {
    const { clock } = this.#context;
    let count = 0;
    for (const row of rows) {
      if (clock.due) yield;
      const object = readRow(this.#context, row);
      if (!object) continue;
      const separation_arcsec = separationOf(this.#context, circle, row);
      this.#objects.add(object, count++, { separation_arcsec, marks: this.#marks(true) });
    }
  }

  #marks(isStored: boolean): Marks | undefined {
    return this.#qualifier && qualification(this.#qualifier.reasonOf(isStored ? this.#context.object : undefined));
  }

  /**
   * Writes the filter marks of the object that was read last, if it is stored. If there are no filters, this method and
   * the following ones write nothing.
   */
  marksOfObject(isStored: boolean): void {
    const marks = this.#marks(isStored);
    if (marks) this.#mark(marks);
  }

  /** Writes the filter marks of a position or a name, which combine those of all objects found there. */
  *marksOfFound({ status, rows }: Pick<Found, 'status' | 'rows'>): Steps {
    if (!this.#qualifier) return;
    if (!rows || rows.length === 0) {
      this.#mark({ qualifying_total: rows ? 0 : null, ...qualification(status as QualifiesReason) });
      return;
    }
    const qualifying = yield* this.#qualifier.countQualifying(rows);
    this.#mark({
      qualifying_total: qualifying,
      ...qualification(qualifying > 0 ? 'meets_filters' : 'no_object_meets_filters'),
    });
  }

  marksOfInvalid(): void {
    if (this.#qualifier) this.#mark(qualification('invalid_input'));
  }

  #mark(marks: Marks & { readonly qualifying_total?: number | null }): void {
    this.#context.body.text(`, ${toJson(marks).slice(1, -1)}`);
  }

  /** Writes the answer up to the end of its results. Call this when all results are in the body. */
  open(count: number, truncated: boolean): void {
    const { out, body, fragments } = this.#context;
    out.fragment(fragments.start);
    out.fragment(DETAIL);
    out.text(this.#detail);
    out.fragment(COUNT);
    out.text(`${count}`);
    out.fragment(SETS);
    let isFirst = true;
    for (const { entry } of this.#objects.sets) {
      if (!isFirst) out.fragment(SEPARATOR);
      isFirst = false;
      out.fragment(entry);
    }
    out.fragment(TRUNCATED);
    out.boolean(truncated);
    out.fragment(RESULTS);
    out.append(body);
    out.fragment(END_OF_LIST);
  }

  /** Writes the end of the answer. */
  close(): void {
    const { out } = this.#context;
    if (this.#filters) out.longText(`, "filters": ${toJson(Object.fromEntries(this.#filters))}`);
    out.fragment(BRACE);
  }
}

/**
 * Writes the start of a result for a position, from its kind to its status, without the closing quote of the status.
 */
export function writePosition(
  body: ByteSink,
  { sent, ra, dec, radiusArcsec }: Circle & { readonly sent: string },
  status: string,
): void {
  body.fragment(INPUT);
  body.longText(sent);
  body.fragment(NORMALIZED);
  body.number(ra);
  body.fragment(DEC);
  body.number(dec);
  body.fragment(RADIUS);
  body.number(radiusArcsec);
  body.fragment(POSITION_STATUS);
  body.text(status);
}
