/** Writes answers as tables. The JSON members besides the objects become the head, and each object becomes a row. */

import type { BeginTable, Row } from '@nearsky/astrotables';
import { tableFormat } from '@nearsky/astrotables';
import { latin1 } from '@nearsky/astrotables/bytes';
import { parseJson, toJson } from '@nearsky/astrotables/json';
import type { TableFormat } from '../contract/formats.ts';
import type { ObjectView } from '../store/object_record.ts';
import { type AnsweredInput, type AnsweredObject, ObjectTable } from '../tables/object_table.ts';
import { areaCandidates } from './area.ts';
import { coneAnswer } from './cone.ts';
import type { InSteps, QueryContext, Steps } from './context.ts';
import { lookupAnswer } from './lookup.ts';
import { ObjectReader } from './object_reader.ts';
import type { Beside, Marks, ObjectList } from './object_writer.ts';
import { objectCandidates } from './objects.ts';
import type { ConeQuery, LookupQuery, Query, RecentQuery } from './queries.ts';
import { recentAnswer } from './recent.ts';
import { type Candidates, type SelectionQuery, writeSelection } from './selection.ts';
import { writeTableHead } from './table_head.ts';

type TableQuery = ConeQuery | LookupQuery | RecentQuery | SelectionQuery;

/** Loads the writer for a table format, and the library that it needs. */
export async function tableWriter(format: TableFormat): Promise<(query: Query, context: QueryContext) => Steps> {
  const begin = await tableFormat(format);
  return (query, context) => {
    if (!isListing(query))
      throw new TypeError(`Cannot write the answer to a ${query.kind} query as a table of objects`);
    return writeTable(begin, query, context);
  };
}

const LISTINGS: readonly Query['kind'][] = ['cone', 'lookup', 'recent', 'area', 'objects'];

function isListing(query: Query): query is TableQuery {
  return LISTINGS.includes(query.kind);
}

function* writeTable(begin: BeginTable, query: TableQuery, context: QueryContext): Steps {
  const { clock, out } = context;
  const whole = query.kind === 'area' ? query.whole : undefined;
  const { table, rows, inputs } = yield* listObjects(query, context);
  const { objects, results, ...about }: About = JSON.parse(latin1(out.bytes.subarray(0, out.length)));
  out.length = 0;
  writeTableHead(out, {
    name: query.kind,
    rows: rows.length,
    total: query.kind === 'cone' ? (inputs[0]!.total ?? null) : null,
    nextCursor: about.next_cursor ?? null,
    asOf: about.as_of ?? null,
    truncated: inputs.some(({ truncated }) => truncated),
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
function* listObjects(query: TableQuery, context: QueryContext): InSteps<TableRows> {
  if (query.kind === 'area') return yield* selectRows(query, context, yield* areaCandidates(query, context));
  if (query.kind === 'objects') return yield* selectRows(query, context, objectCandidates(query, context));
  const rows = new TableRows(query, context);
  if (query.kind === 'lookup') yield* lookupAnswer(query, context, rows);
  else if (query.kind === 'cone') yield* coneAnswer(query, context, rows);
  else yield* recentAnswer(query, context, rows);
  return rows;
}

function* selectRows<T>(query: SelectionQuery, context: QueryContext, candidates: Candidates<T>): InSteps<TableRows> {
  const rows = new TableRows(query, context, candidates.levelOf !== undefined);
  yield* writeSelection(query, context, candidates, rows);
  return rows;
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

  constructor(query: TableQuery, context: QueryContext, hasLevels = false) {
    const { fragments, store } = context;
    const { kind: of, detail } = query;
    // Other queries only list objects that meet the filters, and do not mark them.
    const hasFilters = (query.kind === 'cone' || query.kind === 'lookup') && query.filters !== null;
    const options = { of, detail, hasFilters, hasLevels, catalogs: fragments.settings.catalogs };
    const begun = query.kind === 'area' ? query.whole?.begun : undefined;
    this.table = begun?.table ?? new ObjectTable(options, () => fragments.onLeftOut('valuesLeftOut'));
    this.#context = context;
    this.#reader = new ObjectReader(fragments, store, detail);
    this.#ofInput = of === 'lookup' ? [] : undefined;
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
