/** Answers as tables: made of the JSON, so that the two say the same. */
import type { TableFormat } from '../src/contract/formats.ts';
import { type BeginTable, tableFormat } from '../src/tables/formats.ts';
import { type AnsweredInput, type AnsweredObject, ObjectTable, type RowSource } from '../src/tables/object_table.ts';
import type { ByteSink } from './bytes.ts';
import { toJson } from './json.ts';
import { JsonWalk } from './json_walk.ts';
import type { Clock, Steps } from './queries/context.ts';
import { writeTableHead } from './table_head.ts';
import type { CountQuery, MocQuery, Query, ServiceProvenance, VoConeQuery } from './tasks.ts';

type TableQuery = Exclude<Query, CountQuery | VoConeQuery | MocQuery>;

/** Appends to `out` the head and the table of the JSON in `json` from `from` on, which answers the query. */
export type WriteTable = (query: Query, json: ByteSink, from: number, out: ByteSink, clock: Clock) => Steps;

/** The writer of a format, with the library that it needs. */
export async function tableWriter(format: TableFormat): Promise<WriteTable> {
  const begin = await tableFormat(format);
  return (query, json, from, out, clock) => {
    if (query.kind === 'count' || query.kind === 'voCone' || query.kind === 'moc')
      throw new TypeError(`Cannot write the answer to a ${query.kind} query as a table of objects`);
    return writeTable(begin, query, json, from, out, clock);
  };
}

function* writeTable(
  begin: BeginTable,
  query: TableQuery,
  json: ByteSink,
  from: number,
  out: ByteSink,
  clock: Clock,
): Steps {
  const { buffer, byteOffset } = json.bytes;
  const walk = new JsonWalk(Buffer.from(buffer, byteOffset + from, json.length - from));
  const { about, inputs, sources } = yield* readAnswer(walk, query, clock);
  const table = new ObjectTable({
    of: query.kind,
    detail: query.detail,
    hasFilters: query.kind !== 'recent' && query.filters !== null,
    catalogs: about.provenance.catalogs.map(({ name }) => name),
  });
  writeTableHead(out, {
    name: query.kind,
    rows: sources.length,
    total: query.kind === 'cone' ? (inputs[0]!.total ?? null) : null,
    nextCursor: about.next_cursor ?? null,
    asOf: about.as_of ?? null,
    truncated: inputs.some(({ truncated }) => truncated),
  });
  const writer = begin(out, table, toJson(about));
  for (const source of sources) {
    writer.row(table.row(source));
    if (clock.due) yield;
  }
  writer.end();
}

/** What an answer says beside its objects. */
interface About extends Readonly<Record<string, unknown>> {
  readonly provenance: ServiceProvenance;
  readonly next_cursor?: string | null;
  readonly as_of?: string;
}

interface Read {
  readonly about: About;
  readonly inputs: readonly AnsweredInput[];
  readonly sources: readonly RowSource[];
}

function* readAnswer(walk: JsonWalk, query: TableQuery, clock: Clock): Generator<undefined, Read, undefined> {
  const about: Record<string, unknown> = {};
  const inputs: AnsweredInput[] = [];
  const sources: RowSource[] = [];
  // Integers of a payload may be wide; what else is wide is there as text, too.
  const reviver = query.detail === 'full' ? exactIntegers : undefined;
  walk.enter();
  for (let key = walk.key(); key !== undefined; key = walk.key()) {
    if (key === 'objects') {
      for (const object of yield* readObjects(walk, reviver, clock)) sources.push({ input: undefined, object });
    } else if (key === 'results') {
      walk.enter();
      while (walk.element()) {
        const { input, objects } = yield* readResult(walk, reviver, clock);
        inputs.push(input);
        for (const object of objects) sources.push({ input, object });
        if (objects.length === 0 && query.kind === 'lookup') sources.push({ input, object: undefined });
      }
    } else about[key] = walk.value();
  }
  return { about: about as About, inputs, sources };
}

type Reviver = Parameters<JsonWalk['value']>[0];
type Objects = Generator<undefined, readonly AnsweredObject[], undefined>;

function* readResult(walk: JsonWalk, reviver: Reviver, clock: Clock) {
  const input: Record<string, unknown> = {};
  let objects: readonly AnsweredObject[] = [];
  walk.enter();
  for (let key = walk.key(); key !== undefined; key = walk.key()) {
    if (key === 'objects') objects = yield* readObjects(walk, reviver, clock);
    else input[key] = walk.value(exactIntegers);
  }
  return { input: input as unknown as AnsweredInput, objects };
}

function* readObjects(walk: JsonWalk, reviver: Reviver, clock: Clock): Objects {
  const objects: AnsweredObject[] = [];
  walk.enter();
  while (walk.element()) {
    if (clock.due) yield;
    objects.push(walk.value(reviver) as AnsweredObject);
  }
  return objects;
}

function exactIntegers(_key: string, value: unknown, { source }: { readonly source: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
}
