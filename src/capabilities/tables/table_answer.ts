/** Writes answers as tables. The JSON members besides the objects become the head, and each object becomes a row. */

import { type BeginTable, tableFormat } from '@nearsky/astrotables';
import { latin1 } from '@nearsky/astrotables/bytes';
import type { Row } from '@nearsky/astrotables/columns';
import { parseJson, toJson } from '@nearsky/astrotables/json';
import type { AnsweredInput, AnsweredObject } from '../../core/answers/answered.ts';
import type { InSteps, QueryContext, Steps } from '../../core/answers/context.ts';
import type { Beside, Marks, ObjectList } from '../../core/answers/object_writer.ts';
import type { Query } from '../../core/answers/queries.ts';
import { writeTableHead } from '../../core/answers/table_head.ts';
import type { TableFormat } from '../../core/contract/formats.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import { ObjectReader } from './object_reader.ts';
import { ObjectTable, type TableOptions } from './object_table.ts';

/** Loads the writer for a table format, and the library that it needs. */
export async function tableWriter(format: TableFormat): Promise<(query: Query, context: QueryContext) => Steps> {
  const begin = await tableFormat(format);
  return (query, context) => writeTable(begin, query, context);
}

function* writeTable(begin: BeginTable, query: Query, context: QueryContext): Steps {
  const { clock, out } = context;
  const { kind, whole } = query;
  const { table, rows, inputs } = yield* listObjects(query, context);
  const { objects, results, ...about }: About = JSON.parse(latin1(out.bytes.subarray(0, out.length)));
  out.length = 0;
  writeTableHead(out, {
    name: kind.name,
    rows: rows.length,
    total: kind.resultsOf === 'one' ? (inputs[0]!.total ?? null) : null,
    nextCursor: about.next_cursor ?? null,
    asOf: about.as_of ?? null,
    truncated: kind.resultsOf === 'many' ? inputs.some(({ truncated }) => truncated) : null,
  });
  const writer =
    whole?.begun?.writer ??
    begin(whole?.out ?? out, table, { program: 'nearsky', json: toJson(whole ? aboutPages(about) : about) });
  if (whole) whole.begun = { table, writer };
  for (const row of rows) {
    writer.row(row);
    if (whole) whole.rows++;
    if (clock.due) yield;
  }
  if (!whole || about.next_cursor === null) writer.end();
  if (whole) out.append(whole.out);
}

/** The members of an answer besides its objects and results. */
interface About extends Readonly<Record<string, unknown>> {
  readonly next_cursor?: string | null;
  readonly as_of?: string;
}

/** The members that are the same on all pages. */
function aboutPages({ page_size, count, next_cursor, provenance_sets, ...about }: About): About {
  return about;
}

/** Writes everything except the objects, which become rows. */
function* listObjects(query: Query, context: QueryContext): InSteps<TableRows> {
  const { kind } = query;
  if (!kind.list) throw new TypeError(`Cannot write the answer to a ${kind.name} query as a table of objects`);
  let rows: TableRows | undefined;
  yield* kind.list(query, context, hasLevels => (rows = new TableRows(query, context, hasLevels)));
  return rows!;
}

/**
 * Converts objects to rows at once, because rows are much smaller. In a lookup, objects are converted when the values
 * of their input are known.
 */
class TableRows implements ObjectList {
  readonly table: ObjectTable;
  readonly rows: Row[] = [];
  readonly inputs: AnsweredInput[] = [];
  readonly #context: QueryContext;
  readonly #reader: ObjectReader;
  /** In a lookup, the objects of the current input. */
  readonly #ofInput: AnsweredObject[] | undefined;

  constructor(query: Query, context: QueryContext, hasLevels = false) {
    const { fragments, store, stored } = context;
    const { kind, whole } = query;
    const detail = query.detail!;
    // Other queries only list objects that meet the filters, and do not mark them.
    const hasFilters = kind.marksFiltered === true && query.filters !== null;
    const of = kind.name as TableOptions['of'];
    const options = { of, detail, hasFilters, hasLevels, catalogs: fragments.settings.catalogs };
    this.table =
      (whole?.begun?.table as ObjectTable | undefined) ??
      new ObjectTable(options, () => fragments.onLeftOut('valuesLeftOut'));
    this.#context = context;
    this.#reader = new ObjectReader(fragments, store, detail, stored);
    this.#ofInput = kind.resultsOf === 'many' ? [] : undefined;
  }

  get sets() {
    return this.#reader.sets;
  }

  add(object: ObjectView, _count: number, { marks, ...beside }: Beside): void {
    this.#add({ ...this.#reader.read(object), ...beside, ...marks });
  }

  addUnknown(diaObjectId: bigint, marks: Marks | undefined): void {
    this.#add({ diaObjectId_str: diaObjectId, status: 'not_in_service', ...marks });
  }

  addRecent(object: ObjectView): void {
    this.#add(this.#reader.readRecent(object));
  }

  #add(object: AnsweredObject): void {
    if (this.#ofInput) this.#ofInput.push(object);
    else this.rows.push(this.table.row({ input: undefined, object }));
  }

  /** Removes the result from the body. */
  endResult(from: number): void {
    const { body } = this.#context;
    const input = parseJson(latin1(body.bytes.subarray(from, body.length))) as AnsweredInput;
    body.length = 0;
    this.inputs.push(input);
    if (!this.#ofInput) return;
    const objects = this.#ofInput.length > 0 ? this.#ofInput : [undefined];
    for (const object of objects) this.rows.push(this.table.row({ input, object }));
    this.#ofInput.length = 0;
  }
}
