/**
 * Queries on their way to a thread, as msgpack in one ArrayBuffer: fields by position, inputs one after another in one list. Structured
 * clone of 64 cones costs three times as much, msgpack with the names of the fields twice. An ArrayBuffer, not a view of one: Deno walks
 * every element of a typed array that is posted (4.5 ms for 64 KB).
 */
import { Packr } from 'msgpackr';
import type {
  ConeQuery,
  CountQuery,
  LookupInput,
  LookupQuery,
  MocQuery,
  Query,
  RecentQuery,
  VoConeQuery,
} from './tasks.ts';

/** A query, and what is left of its time when it is posted, milliseconds. */
export interface BudgetedQuery {
  readonly query: Query;
  readonly budgetMs: number;
}

const packr = new Packr({ useRecords: false });

export function packQueries(queries: readonly BudgetedQuery[]): ArrayBuffer {
  const { buffer, byteOffset, byteLength } = packr.pack(
    queries.map(({ query, budgetMs }) => [budgetMs, query.format, query.kind, ...fieldsOf(query)]),
  );
  return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength);
}

export function unpackQueries(packed: ArrayBuffer): BudgetedQuery[] {
  const tuples = packr.unpack(new Uint8Array(packed)) as [number, Query['format'], Query['kind'], ...unknown[]][];
  return tuples.map(([budgetMs, format, kind, ...fields]) => {
    const query = queryOf(kind, fields);
    return { budgetMs, query: format ? { ...query, format } : query };
  });
}

function fieldsOf(query: Query): unknown[] {
  switch (query.kind) {
    case 'cone': {
      const { sent, ra, dec, radiusArcsec, detail, filters, pageSize, asOfUs, after } = query;
      return [sent, ra, dec, radiusArcsec, detail, filters, pageSize, asOfUs, after];
    }
    case 'lookup': {
      const { inputs, detail, filters, maxObjectsPerInput, maxObjects } = query;
      return [inputFields(inputs), detail, filters, maxObjectsPerInput, maxObjects];
    }
    case 'count':
      return [inputFields(query.inputs), query.filters];
    case 'recent': {
      const { timeField, startUs, endUs, window, detail, pageSize, asOfUs, after } = query;
      return [timeField, startUs, endUs, window, detail, pageSize, asOfUs, after];
    }
    case 'voCone': {
      const { target, ra, dec, radiusArcsec, verbosity, maxRecords, serialization, infos } = query;
      return [target, ra, dec, radiusArcsec, verbosity, maxRecords, serialization, infos];
    }
    case 'moc':
      return [query.target, query.encoding];
  }
}

function queryOf(kind: Query['kind'], fields: readonly unknown[]): Query {
  switch (kind) {
    case 'cone': {
      const [sent, ra, dec, radiusArcsec, detail, filters, pageSize, asOfUs, after] = fields;
      return { kind, sent, ra, dec, radiusArcsec, detail, filters, pageSize, asOfUs, after } as ConeQuery;
    }
    case 'lookup': {
      const [inputs, detail, filters, maxObjectsPerInput, maxObjects] = fields;
      return { kind, inputs: inputsOf(inputs), detail, filters, maxObjectsPerInput, maxObjects } as LookupQuery;
    }
    case 'count':
      return { kind, inputs: inputsOf(fields[0]), filters: fields[1] } as CountQuery;
    case 'recent': {
      const [timeField, startUs, endUs, window, detail, pageSize, asOfUs, after] = fields;
      return { kind, timeField, startUs, endUs, window, detail, pageSize, asOfUs, after } as RecentQuery;
    }
    case 'voCone': {
      const [target, ra, dec, radiusArcsec, verbosity, maxRecords, serialization, infos] = fields;
      return { kind, target, ra, dec, radiusArcsec, verbosity, maxRecords, serialization, infos } as VoConeQuery;
    }
    case 'moc': {
      const [target, encoding] = fields;
      return { kind, target, encoding } as MocQuery;
    }
  }
}

/** The kinds of inputs, in the order of the numbers that stand for them; and how many fields there are of each. */
const KINDS = ['id', 'position', 'tns', 'invalid'] as const;
const FIELDS = [3, 5, 4, 4] as const;

function inputFields(inputs: readonly LookupInput[]): unknown[] {
  const fields: unknown[] = [];
  for (const input of inputs) {
    const { kind, sent } = input;
    fields.push(KINDS.indexOf(kind));
    switch (kind) {
      case 'id':
        // Nearly all are written like this, and then there is no need to send it.
        fields.push(sent === usualId(input.diaObjectId) ? null : sent, input.diaObjectId);
        break;
      case 'position':
        fields.push(sent, input.ra, input.dec, input.radiusArcsec);
        break;
      case 'tns':
        fields.push(sent, input.name, input.radiusArcsec);
        break;
      case 'invalid':
        fields.push(sent, input.sentKind, input.error);
        break;
    }
  }
  return fields;
}

function usualId(diaObjectId: bigint): string {
  return `{"kind": "id", "diaObjectId": "${diaObjectId}"}`;
}

function inputsOf(flat: unknown): LookupInput[] {
  const fields = flat as readonly unknown[];
  const inputs: LookupInput[] = [];
  for (let at = 0; at < fields.length; at += FIELDS[fields[at] as number]!) inputs.push(inputOf(fields, at));
  return inputs;
}

function inputOf(fields: readonly unknown[], at: number): LookupInput {
  const kind = KINDS[fields[at] as number]!;
  const sent = fields[at + 1];
  switch (kind) {
    case 'id': {
      const diaObjectId = fields[at + 2] as bigint;
      return { kind, sent: sent === null ? usualId(diaObjectId) : (sent as string), diaObjectId };
    }
    case 'position':
      return { kind, sent, ra: fields[at + 2], dec: fields[at + 3], radiusArcsec: fields[at + 4] } as LookupInput;
    case 'tns':
      return { kind, sent, name: fields[at + 2], radiusArcsec: fields[at + 3] } as LookupInput;
    case 'invalid':
      return { kind, sent, sentKind: fields[at + 2], error: fields[at + 3] } as LookupInput;
  }
}
