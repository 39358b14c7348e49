/** Answers as tables: made of the JSON, so that the two say the same. */
import type { ByteSink } from '../base/bytes.ts';
import { wideIntegersAsBigint } from '../base/exact_integers.ts';
import { toJson } from '../base/json_text.ts';
import { JsonWalk } from '../base/json_walk.ts';
import type { TableFormat } from '../contract/formats.ts';
import type { Row } from '../tables/columns.ts';
import { tableFormat } from '../tables/formats.ts';
import { type AnsweredInput, type AnsweredObject, ObjectTable, type RowSource } from '../tables/object_table.ts';
import type { BeginTable } from '../tables/table_writer.ts';
import type { Clock, QueryContext, Steps } from './context.ts';
import type { Transcode } from './msgpack.ts';
import type { AreaQuery, ConeQuery, LookupQuery, ObjectsQuery, Query, RecentQuery } from './queries.ts';
import type { SharedFragments } from './shared_fragments.ts';
import { writeTableHead } from './table_head.ts';

type TableQuery = AreaQuery | ConeQuery | LookupQuery | ObjectsQuery | RecentQuery;

const TABLES: readonly Query['kind'][] = [
  'area',
  'cone',
  'lookup',
  'objects',
  'recent',
] satisfies readonly TableQuery['kind'][];

/** A writer of the head and the table of an answer in a format, with the library that it needs. */
export async function tableWriter(format: TableFormat): Promise<Transcode> {
  const begin = await tableFormat(format);
  return (query, json, from, out, context) => {
    if (!isTableQuery(query))
      throw new TypeError(`Cannot write the answer to a ${query.kind} query as a table of objects`);
    return writeTable(begin, query, json, from, out, context);
  };
}

function isTableQuery(query: Query): query is TableQuery {
  return TABLES.includes(query.kind);
}

function* writeTable(
  begin: BeginTable,
  query: TableQuery,
  json: ByteSink,
  from: number,
  out: ByteSink,
  { clock, fragments }: Pick<QueryContext, 'clock' | 'fragments'>,
): Steps {
  const { buffer, byteOffset } = json.bytes;
  const walk = new JsonWalk(Buffer.from(buffer, byteOffset + from, json.length - from));
  const whole = query.kind === 'area' ? query.whole : undefined;
  const { about, inputs, table, rows } = yield* readAnswer(walk, query, clock, fragments, whole?.begun?.table);
  writeTableHead(out, {
    name: query.kind,
    rows: rows.length,
    total: query.kind === 'cone' ? (inputs[0]!.total ?? null) : null,
    nextCursor: about.next_cursor ?? null,
    asOf: about.as_of ?? null,
    truncated: inputs.some(({ truncated }) => truncated),
  });
  const writer = whole?.begun?.writer ?? begin(whole?.out ?? out, table, toJson(whole ? aboutPages(about) : about));
  if (whole) whole.begun = { table, writer };
  for (const row of rows) {
    writer.row(row);
    if (whole) whole.rows++;
    if (clock.due) yield;
  }
  if (!whole || about.next_cursor === null) writer.end();
  if (whole) out.append(whole.out);
}

/** The statements that all pages make. */
function aboutPages({ page_size, count, next_cursor, provenance_sets, ...about }: About): About {
  return about;
}

/** The statements of an answer beside its objects. */
interface About extends Readonly<Record<string, unknown>> {
  readonly next_cursor?: string | null;
  readonly as_of?: string;
  readonly area?: { readonly level: number | null };
}

interface Read {
  readonly about: About;
  readonly inputs: readonly AnsweredInput[];
  readonly table: ObjectTable;
  readonly rows: readonly Row[];
}

function* readAnswer(
  walk: JsonWalk,
  query: TableQuery,
  clock: Clock,
  fragments: SharedFragments,
  begun: ObjectTable | undefined,
): Generator<undefined, Read, undefined> {
  const about: Record<string, unknown> = {};
  const inputs: AnsweredInput[] = [];
  const rows: Row[] = [];
  let table = begun;
  // The area comes before the objects. Objects become rows at once, which are much smaller.
  const theTable = () => (table ??= tableOf(query, about as About, fragments));
  const add = (source: RowSource) => rows.push(theTable().row(source));
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
  return { about: about as About, inputs, table: theTable(), rows };
}

function tableOf(query: TableQuery, { area }: About, { settings, onLeftOut }: SharedFragments): ObjectTable {
  const options = {
    of: query.kind,
    detail: query.detail,
    // The others list the objects that meet the filters, without marks.
    hasFilters: (query.kind === 'cone' || query.kind === 'lookup') && query.filters !== null,
    hasLevels: typeof area?.level === 'number',
    catalogs: settings.catalogs,
  };
  return new ObjectTable(options, () => onLeftOut('valuesLeftOut'));
}

type Reviver = Parameters<JsonWalk['value']>[0];
type Reading<T> = Generator<undefined, T, undefined>;

/** In a lookup, the rows also contain the values that come after the objects. */
function* readResult(
  walk: JsonWalk,
  { kind }: TableQuery,
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
