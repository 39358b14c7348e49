/**
 * Answers as tables: made of the JSON, so that the two say the same; those that list what an area or a window of time holds, which may be
 * millions of rows, of the objects.
 */
import type { ByteSink } from '../base/bytes.ts';
import { wideIntegersAsBigint } from '../base/exact_integers.ts';
import { toJson } from '../base/json_text.ts';
import { JsonWalk } from '../base/json_walk.ts';
import type { TableFormat } from '../contract/formats.ts';
import type { Row } from '../tables/columns.ts';
import { tableFormat } from '../tables/formats.ts';
import { type AnsweredInput, type AnsweredObject, ObjectTable, type RowSource } from '../tables/object_table.ts';
import type { BeginTable } from '../tables/table_writer.ts';
import { areaCandidates } from './area.ts';
import type { Clock, QueryContext, Steps } from './context.ts';
import type { AnswerWriter } from './msgpack.ts';
import { ObjectReader } from './object_reader.ts';
import { objectCandidates } from './objects.ts';
import type { ConeQuery, LookupQuery, Query, RecentQuery } from './queries.ts';
import { type Candidates, type SelectionQuery, selectPage, statementsOf } from './selection.ts';
import type { SharedFragments } from './shared_fragments.ts';
import { writeTableHead } from './table_head.ts';
import type { WholeTable } from './whole_table.ts';

type ParsedQuery = ConeQuery | LookupQuery | RecentQuery;

const PARSED: readonly Query['kind'][] = ['cone', 'lookup', 'recent'] satisfies readonly ParsedQuery['kind'][];

/** A writer of the head and the table of an answer in a format, with the library that it needs. */
export async function tableWriter(format: TableFormat): Promise<AnswerWriter> {
  const begin = await tableFormat(format);
  return {
    transcode(query, json, from, out, context) {
      if (!isParsed(query))
        throw new TypeError(`Cannot write the answer to a ${query.kind} query as a table of objects`);
      return writeTable(begin, query, json, from, out, context);
    },
    select: (query, context) => selectTable(begin, query, context),
  };
}

function isParsed(query: Query): query is ParsedQuery {
  return PARSED.includes(query.kind);
}

function* selectTable(begin: BeginTable, query: SelectionQuery, context: QueryContext): Steps {
  if (query.kind === 'objects') yield* writeSelected(begin, query, context, objectCandidates(query, context));
  else yield* writeSelected(begin, query, context, yield* areaCandidates(query, context), query.whole);
}

function* writeSelected<T>(
  begin: BeginTable,
  query: SelectionQuery,
  context: QueryContext,
  candidates: Candidates<T>,
  whole?: WholeTable,
): Steps {
  const { clock, fragments, store, out } = context;
  const { levelOf } = candidates;
  const table = whole?.begun?.table ?? tableOf(query, levelOf !== undefined, fragments);
  const reader = new ObjectReader(fragments, store, query.detail);
  const rows: Row[] = [];
  const page = yield* selectPage(query, context, candidates, (object, candidate) => {
    rows.push(table.row({ input: undefined, object: reader.read(object, levelOf?.(candidate)) }));
  });
  const about: About = statementsOf(query, context, candidates, page, reader.sets);
  writeHead(out, query, rows, about);
  const writer = whole?.begun?.writer ?? begin(whole?.out ?? out, table, toJson(whole ? aboutPages(about) : about));
  if (whole) whole.begun = { table, writer };
  for (const row of rows) {
    writer.row(row);
    if (whole) whole.rows++;
    if (clock.due) yield;
  }
  if (!whole || page.next === null) writer.end();
  if (whole) out.append(whole.out);
}

function* writeTable(
  begin: BeginTable,
  query: ParsedQuery,
  json: ByteSink,
  from: number,
  out: ByteSink,
  { clock, fragments }: Pick<QueryContext, 'clock' | 'fragments'>,
): Steps {
  const { buffer, byteOffset } = json.bytes;
  const walk = new JsonWalk(Buffer.from(buffer, byteOffset + from, json.length - from));
  const { about, inputs, table, rows } = yield* readAnswer(walk, query, clock, fragments);
  writeHead(out, query, rows, about, inputs);
  const writer = begin(out, table, toJson(about));
  for (const row of rows) {
    writer.row(row);
    if (clock.due) yield;
  }
  writer.end();
}

function writeHead(
  out: ByteSink,
  { kind }: Query,
  { length }: readonly Row[],
  about: About,
  inputs: readonly AnsweredInput[] = [],
): void {
  writeTableHead(out, {
    name: kind,
    rows: length,
    total: kind === 'cone' ? (inputs[0]!.total ?? null) : null,
    nextCursor: about.next_cursor ?? null,
    asOf: about.as_of ?? null,
    truncated: inputs.some(({ truncated }) => truncated),
  });
}

/** The statements that all pages make. */
function aboutPages({ page_size, count, next_cursor, provenance_sets, ...about }: About): About {
  return about;
}

/** The statements of an answer beside its objects. */
interface About extends Readonly<Record<string, unknown>> {
  readonly next_cursor?: string | null;
  readonly as_of?: string;
}

interface Read {
  readonly about: About;
  readonly inputs: readonly AnsweredInput[];
  readonly table: ObjectTable;
  readonly rows: readonly Row[];
}

function* readAnswer(
  walk: JsonWalk,
  query: ParsedQuery,
  clock: Clock,
  fragments: SharedFragments,
): Generator<undefined, Read, undefined> {
  const about: Record<string, unknown> = {};
  const inputs: AnsweredInput[] = [];
  const rows: Row[] = [];
  const table = tableOf(query, false, fragments);
  // Objects become rows at once, which are much smaller.
  const add = (source: RowSource) => rows.push(table.row(source));
  // Integers of a payload may be wide. Every other wide integer is there as text, too.
  const reviver = query.detail === 'full' ? wideIntegersAsBigint : undefined;
  walk.enter();
  for (let key = walk.key(); key !== undefined; key = walk.key()) {
    if (key === 'objects') yield* readObjects(walk, reviver, clock, object => add({ input: undefined, object }));
    else if (key === 'results') {
      walk.enter();
      while (walk.element()) inputs.push(yield* readResult(walk, query, reviver, clock, add));
    } else about[key] = walk.value();
  }
  return { about: about as About, inputs, table, rows };
}

function tableOf(
  query: ParsedQuery | SelectionQuery,
  hasLevels: boolean,
  { settings, onLeftOut }: SharedFragments,
): ObjectTable {
  const options = {
    of: query.kind,
    detail: query.detail,
    // The others list the objects that meet the filters, without marks.
    hasFilters: (query.kind === 'cone' || query.kind === 'lookup') && query.filters !== null,
    hasLevels,
    catalogs: settings.catalogs,
  };
  return new ObjectTable(options, () => onLeftOut('valuesLeftOut'));
}

type Reviver = Parameters<JsonWalk['value']>[0];
type Reading<T> = Generator<undefined, T, undefined>;

/** In a lookup, the rows also contain the values that come after the objects. */
function* readResult(
  walk: JsonWalk,
  { kind }: ParsedQuery,
  reviver: Reviver,
  clock: Clock,
  add: (source: RowSource) => void,
): Reading<AnsweredInput> {
  const read: Record<string, unknown> = {};
  const objects: (AnsweredObject | undefined)[] = [];
  const isLookup = kind === 'lookup';
  const each = isLookup
    ? (object: AnsweredObject) => void objects.push(object)
    : (object: AnsweredObject) => add({ input: undefined, object });
  walk.enter();
  for (let key = walk.key(); key !== undefined; key = walk.key()) {
    if (key === 'objects') yield* readObjects(walk, reviver, clock, each);
    else read[key] = walk.value(wideIntegersAsBigint);
  }
  const input = read as unknown as AnsweredInput;
  if (isLookup && objects.length === 0) objects.push(undefined);
  for (const object of objects) add({ input, object });
  return input;
}

function* readObjects(
  walk: JsonWalk,
  reviver: Reviver,
  clock: Clock,
  each: (object: AnsweredObject) => void,
): Reading<void> {
  walk.enter();
  while (walk.element()) {
    if (clock.due) yield;
    each(walk.value(reviver) as AnsweredObject);
  }
}
