/** Answers of the lookup's shape: envelope, objects, marks. */
import { type ByteSink, fragment } from '../base/bytes.ts';
import { toJson } from '../base/json_text.ts';
import type { DetailLevel, ObjectStatus, QualifiesReason } from '../contract/enums.ts';
import type { QueryContext, Steps } from './context.ts';
import { BRACE, END_OF_LIST, OPEN_BRACE, SEPARATOR } from './fragments.ts';
import { ObjectWriter } from './object_writer.ts';
import { Qualifier, qualification } from './qualify.ts';
import type { Circle, FilterValues } from './queries.ts';
import { type Found, type Row, readRow, separationOf } from './search.ts';

const DETAIL = fragment(', "detail": "');
const COUNT = fragment('", "count": ');
const SETS = fragment(', "provenance_sets": {');
const TRUNCATED = fragment('}, "truncated": ');
const RESULTS = fragment(', "results": [');
const SEPARATION = fragment(', "separation_arcsec": ');
const INPUT = fragment(', "kind": "position", "input": ');
const NORMALIZED = fragment(', "normalized": {"kind": "position", "ra": ');
const DEC = fragment(', "dec": ');
const RADIUS = fragment(', "radius_arcsec": ');
const POSITION_STATUS = fragment('}, "status": "');

/** The list of one answer: results and their objects go to the body. */
export class Listing {
  readonly #context: QueryContext;
  readonly #detail: DetailLevel;
  readonly #filters: FilterValues | null;
  readonly #writer: ObjectWriter;
  readonly #qualifier: Qualifier | undefined;

  constructor(context: QueryContext, detail: DetailLevel, filters: FilterValues | null) {
    this.#context = context;
    this.#detail = detail;
    this.#filters = filters;
    this.#writer = new ObjectWriter(context.body, context.fragments, context.store, detail);
    this.#qualifier = filters ? new Qualifier(filters, context) : undefined;
  }

  /** The status of the object that was read last, or of an id that is not stored. */
  statusOf(isStored: boolean): ObjectStatus {
    return isStored ? this.#writer.statusOf(this.#context.object) : 'not_in_service';
  }

  /** The object of an id: the one that was read last, where it is stored. */
  objectOfId(diaObjectId: bigint, isStored: boolean): void {
    if (isStored) this.#writer.entry(this.#context.object);
    else this.#writer.unknown(diaObjectId);
    this.marksOfObject(isStored);
    this.#context.body.fragment(BRACE);
  }

  /** The objects of a page, in its order. */
  *objectsOfRows(circle: Circle, rows: readonly Row[]): Steps {
    const { clock, body } = this.#context;
    for (let i = 0; i < rows.length; i++) {
      if (clock.due) yield;
      const row = rows[i]!;
      const object = readRow(this.#context, row);
      if (i > 0) body.fragment(SEPARATOR);
      this.#writer.entry(object);
      body.fragment(SEPARATION);
      body.number(separationOf(this.#context, circle, row));
      this.marksOfObject(true);
      body.fragment(BRACE);
    }
  }

  /**
   * Writes the marks of the object that was read last, where it is stored. This and the methods below write nothing for
   * a query without filters.
   */
  marksOfObject(isStored: boolean): void {
    if (!this.#qualifier) return;
    this.#mark(qualification(this.#qualifier.reasonOf(isStored ? this.#context.object : undefined)));
  }

  /** Writes the marks of a position or a name, over all objects that it found. */
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

  #mark(marks: Readonly<Record<string, unknown>>): void {
    this.#context.body.text(`, ${toJson(marks).slice(1, -1)}`);
  }

  /** Writes the answer up to the end of its results. To be called when every result is in the body. */
  open(count: number, truncated: boolean): void {
    const { out, body, fragments } = this.#context;
    out.fragment(OPEN_BRACE);
    out.fragment(fragments.provenance);
    out.fragment(DETAIL);
    out.text(this.#detail);
    out.fragment(COUNT);
    out.text(`${count}`);
    out.fragment(SETS);
    let isFirst = true;
    for (const { entry } of this.#writer.sets) {
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

  /** Writes its end. */
  close(): void {
    const { out } = this.#context;
    if (this.#filters) out.longText(`, "filters": ${toJson(Object.fromEntries(this.#filters))}`);
    out.fragment(BRACE);
  }
}

/**
 * The part of a result about its position: from its kind to its status, whose closing quote is left to the next part.
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
