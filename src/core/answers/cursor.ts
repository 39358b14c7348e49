/** The cursors of paged operations (docs/contract.md, Cursors). One schema per operation both writes and reads them. */
import { hash } from 'node:crypto';
import { parseJson } from '@nearsky/astrotables/json';
import { MAX_AREA_ORDER } from '@nearsky/sky-index';
import { asObject, type JsonObject } from '../base/json_reader.ts';
import { parseTime } from '../base/parse_time.ts';
import { formatTime } from '../base/times.ts';
import { DETAIL_LEVELS, LISTED_STATUSES, type Named, type NameOf, TIME_FIELDS } from '../contract/enums.ts';
import { integer, type Kind, named, number } from '../contract/kind.ts';
import { DEC_RANGE, MAX_CURSOR_CHARACTERS, MAX_OBJECT_ID, RA_RANGE } from '../contract/limits.ts';
import type { QueryContext } from './context.ts';

/** The part that all cursors have. */
export interface OfArchive {
  /** The archive to which the cursor belongs, as in `Store.archive`; undefined in cursors of the public service. */
  readonly archive: string | undefined;
}

/** The members of a cursor that name what its walk reads. */
export const stateOf = ({ store, stored }: Pick<QueryContext, 'store' | 'stored'>) => ({
  archive: store.archive,
  at: stored.entry,
});

/** Says why the cursor cannot be used. The message follows "because". */
export class CursorError extends Error {}

/** A member of a cursor's JSON. */
interface Field<T> {
  readonly key: string;
  /** JSON text. */
  readonly write: (value: T) => string;
  /** @throws CursorError */
  readonly read: (sent: unknown) => T;
}

export interface CursorSchema<C> {
  /** The value of `k`, which identifies the operation. */
  readonly kind: string;
  /** The members, in the order in which they are written. */
  readonly fields: { readonly [K in keyof C]: Field<C[K]> };
}

export type CursorOf<S> = S extends CursorSchema<infer C> ? C : never;

function schema<C>(kind: string, fields: CursorSchema<C>['fields']): CursorSchema<C> {
  return { kind, fields };
}

/** The last microseconds of the year 9999 are rounded up to this time, which has no text form. */
const YEAR_10000_US = 253_402_300_800e6;

function refuse(what: string): never {
  throw new CursorError(`${what} in it is missing or damaged`);
}

/** Microseconds since 1970. */
const time = (key: string): Field<number> => ({
  key,
  write: timeUs => `"${formatTime(timeUs)}"`,
  read(sent) {
    const timeUs = typeof sent === 'string' ? parseTime(sent) : undefined;
    if (timeUs === undefined || timeUs >= YEAR_10000_US) refuse('a time');
    return timeUs;
  },
});

const numeric = (key: string, kind: Kind<number>): Field<number> => ({
  key,
  write: value => `${value}`,
  read: sent => kind.parse(sent) ?? refuse('a number'),
});

const text = (key: string): Field<string> => ({
  key,
  write: value => `"${value}"`,
  read(sent) {
    if (typeof sent !== 'string') refuse('a name');
    return sent;
  },
});

const oneOf = <const T extends readonly Named[]>(key: string, list: T): Field<NameOf<T>> => {
  const kind = named(list);
  return { key, write: value => `"${value}"`, read: sent => kind.parse(sent) ?? refuse('a name') };
};

/** A field that a cursor may lack, for example a cursor of the public service. */
const later = <T>({ key, write, read }: Field<T>): Field<T | undefined> => ({
  key,
  write: value => write(value!),
  read: sent => (sent === undefined ? undefined : read(sent)),
});

const ID: Field<bigint> = {
  key: 'i',
  write: id => `${id}`,
  read(sent) {
    if (typeof sent !== 'bigint' || sent < 0n || sent > MAX_OBJECT_ID) refuse('the id');
    return sent;
  },
};
const AS_OF = time('a');
const ARCHIVE = later(text('o'));
/** The journal entry whose state the walk reads; undefined without a history. */
const AT = later(numeric('j', integer({ min: 0, max: Number.MAX_SAFE_INTEGER })));
const DETAIL = oneOf('d', DETAIL_LEVELS);
const TIME_FIELD = oneOf('f', TIME_FIELDS);
const STATUS = oneOf('u', LISTED_STATUSES);
/** The last object of the previous page, in a listing by time. */
const LAST = { timeUs: time('t'), diaObjectId: ID };

/** @param radius the kind of the radius, arcsec */
export const coneCursor = (radius: Kind<number>) =>
  schema('cone_search', {
    ...LAST,
    asOfUs: AS_OF,
    ra: numeric('ra', number(RA_RANGE)),
    dec: numeric('dec', number(DEC_RANGE)),
    radiusArcsec: numeric('r', radius),
    detail: DETAIL,
    archive: ARCHIVE,
    at: AT,
  });

/** The schema with which the operation writes cursors. */
export const CONE_CURSOR = coneCursor(number({ min: 0 }));

/** The operation of cursors that do not name their operation. */
export const RECENT_CURSOR = schema('recent_crossmatches', {
  ...LAST,
  startUs: time('s'),
  endUs: time('e'),
  timeField: TIME_FIELD,
  detail: DETAIL,
  asOfUs: later(AS_OF),
  archive: ARCHIVE,
});

const PIXEL = integer({ min: 0, max: 12 * 4 ** MAX_AREA_ORDER - 1 });

/** The cursor has only the digest of the area. The area itself is in the request. */
export const AREA_CURSOR = schema('area', {
  level: numeric('l', number({ min: 0, max: 1 })),
  pixel: numeric('p', PIXEL),
  id: ID,
  timeField: TIME_FIELD,
  status: STATUS,
  asOfUs: AS_OF,
  digest: text('n'),
  archive: ARCHIVE,
  at: AT,
});

export const OBJECTS_CURSOR = schema('objects', {
  ...LAST,
  timeField: TIME_FIELD,
  status: STATUS,
  asOfUs: AS_OF,
  archive: ARCHIVE,
  at: AT,
});

/**
 * Encodes a cursor: compact JSON as base64url without padding. Ids have all their digits. The last member is a
 * checksum.
 */
export function encodeCursor<C>({ kind, fields }: CursorSchema<C>, cursor: NoInfer<C>): string {
  let json = `{"k":"${kind}"`;
  for (const name in fields)
    if (cursor[name] !== undefined) json += `,"${fields[name].key}":${fields[name].write(cursor[name])}`;
  return Buffer.from(`${json},"c":"${check(`${json}}`)}"}`, 'latin1').toString('base64url');
}

/** @throws CursorError */
export function decodeCursor<C>({ kind, fields }: CursorSchema<C>, token: string): C {
  const sent = membersOf(token);
  const { k = RECENT_CURSOR.kind } = sent;
  if (k !== kind) throw new CursorError('it belongs to another operation');
  const cursor: Partial<C> = {};
  for (const name in fields) cursor[name] = fields[name].read(sent[fields[name].key]);
  return cursor as C;
}

function membersOf(token: string): JsonObject {
  if (token === '') throw new CursorError('it is empty');
  if (token.length > MAX_CURSOR_CHARACTERS)
    throw new CursorError(`it is longer than ${MAX_CURSOR_CHARACTERS} characters`);
  let json = '';
  let members: JsonObject | undefined;
  try {
    const bytes = Buffer.from(token, 'base64url');
    // The decoder ignores characters that are not base64url. So the result is encoded again and compared.
    if (bytes.toString('base64url') === token) json = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    members = asObject(parseJson(json, 'all'));
  } catch {
    members = undefined;
  }
  if (!members) throw new CursorError('it is damaged');
  // Cursors of the public service have neither an archive nor a checksum.
  const isOurs = 'c' in members || ARCHIVE.key in members;
  if (isOurs && members.c !== check(json.replace(/,"c":"[^"]*"\}$/, '}'))) throw new CursorError('it was altered');
  return members;
}

/** The checksum (member `c`) of a cursor with this JSON. */
function check(json: string): string {
  return hash('sha256', json).slice(0, 8);
}
