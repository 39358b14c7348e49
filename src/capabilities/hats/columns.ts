/** The columns of an exported catalog, and the rows for objects and their matches. */

import { type Column, type ColumnType, withOwnNames } from '@nearsky/astrotables';
import { COMPACT, toJson } from '@nearsky/astrotables/json';
import { HEALPIX_COLUMN } from '@nearsky/hats/layout';
import type { ColumnValues, HatsColumn } from '@nearsky/hats/write';
import { isPosition, pixel29 } from '@nearsky/sky-index';
import { compare } from '../../core/base/compare.ts';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import {
  catalogFields,
  columnOf,
  MATCH_FIELDS,
  OBJECT_FIELDS,
  type ObjectField,
  RELEASE_FIELDS,
  type ShownIn,
  shownIn,
  WORTH_FIELDS,
} from '../../core/contract/object_fields.ts';
import { integerId } from '../../core/contract/source_ids.ts';
import { worthOf } from '../../core/store/match_statistics.ts';
import {
  type ObjectView,
  readAssociation,
  readCurrent,
  type StoredMatch,
  type TimelessRecord,
} from '../../core/store/object_record.ts';
import type { SourceValues } from '../../core/store/records.ts';
import { crossmatchedStatus, outcomeOf } from '../../core/store/status.ts';
import type { Store } from '../../core/store/store.ts';
import type { TnsAssociation } from '../../core/store/types.ts';
import { payloadCell, payloadColumns } from '../catalogs/payload_columns.ts';

const column = (name: string, type: ColumnType, description: string, more: Partial<HatsColumn> = {}) =>
  ({ name, type, description, ...more }) satisfies HatsColumn;

/** The column of a field that other tables also have. */
const known = (name: string, field: ObjectField): HatsColumn => ({ ...columnOf(name, field), ...field.archive });

const VARIED = { isVaried: true } as const;
const PIXEL = column(HEALPIX_COLUMN, 'int64', 'HEALPix pixel of the position at order 29, NESTED', {
  ucd: 'pos.healpix',
  ...OBJECT_FIELDS.diaObjectId.archive,
});
/** The first columns of every row. */
const PLACE = [PIXEL, ...(['diaObjectId', 'ra', 'dec'] as const).map(name => known(name, OBJECT_FIELDS[name]))];

/** The first columns of a match, which are the object's, not the source's. */
const PLACE_OF_MATCH = PLACE.map((each): HatsColumn => {
  const of = { ra: 'source_ra', dec: 'source_dec' }[each.name];
  return of ? { ...each, description: `${each.description}, of the object; ${of} is the source's` } : each;
});

type PlaceName = 'diaObjectId' | 'ra' | 'dec';
const isOfPlace = (name: string): name is PlaceName => PLACE.some(each => each.name === name);
/** The columns of an object after the first ones. */
const OWN = shownIn('archive').flatMap(({ name, field }) => (isOfPlace(name) ? [] : { name, field }));

export function objectColumns(catalogs: readonly CatalogDefinition[]): readonly HatsColumn[] {
  return withOwnNames([
    ...PLACE,
    ...OWN.map(({ name, field }) => known(name, field)),
    ...catalogs.map(catalog => known(`${catalog.name}_outcome`, catalogFields(catalog).outcome)),
    ...catalogs.map(catalog => known(`${catalog.name}_matches`, catalogFields(catalog).matches)),
  ]);
}

const SOURCE_COLUMNS: readonly HatsColumn[] = [
  column('match_version', 'int32', 'Version of the crossmatch that found the match', { isRequired: true }),
  column('catalog_name', 'text', 'The catalog of the source', { isRequired: true }),
  column('catalog_source_id', 'int64', "The source's identifier in its catalog; null if that is a text", {
    ucd: 'meta.id',
    isVaried: true,
    hasBounds: true,
  }),
  column('catalog_source_name', 'text', "The source's identifier in a catalog with text identifiers", {
    ucd: 'meta.id',
    ...VARIED,
  }),
  known('separation_arcsec', MATCH_FIELDS.separation_arcsec),
  column('source_ra', 'float64', "The source's right ascension", { unit: 'deg', ucd: 'pos.eq.ra', ...VARIED }),
  column('source_dec', 'float64', "The source's declination", { unit: 'deg', ucd: 'pos.eq.dec', ...VARIED }),
  known('separation_at_epoch_arcsec', MATCH_FIELDS.separation_at_epoch_arcsec),
  column(
    'catalog_payload',
    'text',
    "The source's columns as JSON, if the columns below cannot hold all of them exactly",
  ),
  ...Object.entries(WORTH_FIELDS).map(([name, field]) => known(name, field)),
  column(
    'statistics_version',
    'int32',
    'Version of the method that computed the previous columns from chance_probability on',
  ),
  known('catalog_release', RELEASE_FIELDS.catalog_release),
];

/** Which matches have rows: `current` ones alone, or `all`, in which case a column tells them apart. */
export type MatchesKept = 'current' | 'all';

export const IS_CURRENT = 'is_current';
const KEPT: Readonly<Record<MatchesKept, readonly HatsColumn[]>> = {
  current: [],
  all: [column(IS_CURRENT, 'boolean', 'Whether the newest crossmatch of the object found it', { isRequired: true })],
};

/** The index of a catalog's payload in the row, its columns, and whether the catalog has text ids. */
interface PayloadPlace {
  readonly hasTextIds: boolean;
  readonly at: number;
  readonly columns: readonly Column[];
}

/** The columns of matches, and where their rows have each catalog's payload. */
export interface MatchColumns {
  readonly kept: MatchesKept;
  readonly columns: readonly HatsColumn[];
  readonly places: ReadonlyMap<string, PayloadPlace>;
}

export function matchColumns(catalogs: readonly CatalogDefinition[], kept: MatchesKept): MatchColumns {
  const columns: HatsColumn[] = [...PLACE_OF_MATCH, ...SOURCE_COLUMNS, ...KEPT[kept]];
  const places = new Map<string, PayloadPlace>();
  for (const catalog of catalogs) {
    const { name, release, idType } = catalog;
    const payload = payloadColumns(catalog);
    places.set(name, { hasTextIds: idType === 'text', at: columns.length, columns: payload });
    for (const each of payload) {
      const description = `${release}: ${each.description}`;
      columns.push({ ...each, name: `${name}_${each.name}`, description, isVaried: each.type === 'float64' });
    }
  }
  return { kept, columns: withOwnNames(columns), places };
}

/** The number of rows for an object's matches. */
export function matchRows(object: ObjectView, kept: MatchesKept): number {
  if (!object.hasStoredMatches) return 0;
  return kept === 'all' ? object.matches().length : listedMatches(object).length;
}

/** Rows that are collected column by column. The number of rows must be known in advance. */
abstract class Rows {
  readonly columns: readonly HatsColumn[];
  length = 0;
  readonly #capacity: number;
  /** The values of each column; undefined while all are null. */
  readonly #cells: (Cells | undefined)[];

  constructor(columns: readonly HatsColumn[], capacity: number) {
    this.columns = columns;
    this.#capacity = capacity;
    this.#cells = new Array(columns.length).fill(undefined);
  }

  abstract add(object: ObjectView, sources: readonly SourceValues[]): void;

  protected set(column: number, value: unknown): void {
    if (value === null || value === undefined) return;
    (this.#cells[column] ??= cellsOf(this.columns[column]!, this.#capacity)).set(this.length, value);
  }

  protected setPlace(object: ObjectView): void {
    const [ra, dec] = object.storedPosition();
    this.set(0, ra !== null && dec !== null && isPosition(ra, dec) ? pixel29(ra, dec) : -1n);
    this.set(1, object.diaObjectId);
    this.set(2, ra);
    this.set(3, dec);
  }

  /**
   * A function that returns the values of a column, in ascending order of pixel, then identifier. It returns undefined
   * for a column without values.
   */
  sorted(): (column: number) => ColumnValues | undefined {
    const [pixels, ids] = this.#cells as unknown as [Numbers | undefined, Numbers | undefined];
    if (!pixels || !ids) return () => undefined;
    const order = orderOf(pixels.numbers as BigInt64Array, ids.numbers as BigInt64Array, this.length);
    return column => this.#cells[column]?.inOrder(order);
  }
}

/**
 * The rows by pixel, then by identifier. Rows of one object keep the order in which they were added. Comparing the
 * halves of pixels takes a fifth of the time of comparing bigints.
 */
function orderOf(pixels: BigInt64Array, ids: BigInt64Array, rows: number): Uint32Array {
  const low = new Uint32Array(pixels.buffer);
  const high = new Int32Array(pixels.buffer);
  const order = Uint32Array.from({ length: rows }, (_, row) => row);
  return order.sort(
    (a, b) => high[2 * a + 1]! - high[2 * b + 1]! || low[2 * a]! - low[2 * b]! || compare(ids[a]!, ids[b]!) || a - b,
  );
}

/** The values of a column, in the order in which rows were added. */
interface Cells {
  set(row: number, value: unknown): void;
  inOrder(rows: Uint32Array): ColumnValues;
}

function cellsOf({ type, isRequired, isVaried }: HatsColumn, capacity: number): Cells {
  const isWide = type === 'float64' || type === 'int64' || type === 'time';
  if (!isVaried) return new SharedCells(capacity);
  return isWide ? new Numbers(type, capacity, isRequired ?? false) : new AnyCells(capacity);
}

class Numbers implements Cells {
  readonly numbers: Float64Array | BigInt64Array;
  readonly #isPresent: Uint8Array | undefined;

  constructor(type: ColumnType, capacity: number, isRequired: boolean) {
    this.numbers = type === 'float64' ? new Float64Array(capacity) : new BigInt64Array(capacity);
    this.#isPresent = isRequired ? undefined : new Uint8Array(capacity);
  }

  set(row: number, value: unknown): void {
    this.numbers[row] = value as never;
    if (this.#isPresent) this.#isPresent[row] = 1;
  }

  inOrder(rows: Uint32Array): ColumnValues {
    const isPresent = this.#isPresent && new Uint8Array(rows.length);
    if (isPresent) for (let i = 0; i < rows.length; i++) isPresent[i] = this.#isPresent![rows[i]!]!;
    return { numbers: this.#inOrder(rows), isPresent };
  }

  #inOrder(rows: Uint32Array): Float64Array | BigInt64Array {
    const { numbers } = this;
    if (numbers instanceof Float64Array) {
      const sorted = new Float64Array(rows.length);
      for (let i = 0; i < rows.length; i++) sorted[i] = numbers[rows[i]!]!;
      return sorted;
    }
    const sorted = new BigInt64Array(rows.length);
    for (let i = 0; i < rows.length; i++) sorted[i] = numbers[rows[i]!]!;
    return sorted;
  }
}

/** Values that many rows share. */
class SharedCells implements Cells {
  readonly #indexes: Int32Array;
  readonly #distinct: unknown[] = [];
  readonly #indexOf = new Map<unknown, number>();
  /** Neighbouring rows often have the same value. */
  #last: unknown;
  #lastIndex = -1;

  constructor(capacity: number) {
    this.#indexes = new Int32Array(capacity).fill(-1);
  }

  set(row: number, value: unknown): void {
    if (value !== this.#last) {
      const known = this.#indexOf.get(value);
      this.#lastIndex = known ?? this.#distinct.push(value) - 1;
      if (known === undefined) this.#indexOf.set(value, this.#lastIndex);
      this.#last = value;
    }
    this.#indexes[row] = this.#lastIndex;
  }

  inOrder(rows: Uint32Array): ColumnValues {
    const indexes = new Int32Array(rows.length);
    for (let i = 0; i < rows.length; i++) indexes[i] = this.#indexes[rows[i]!]!;
    return { indexes, distinct: this.#distinct };
  }
}

class AnyCells implements Cells {
  readonly #values: unknown[];

  constructor(capacity: number) {
    this.#values = new Array(capacity).fill(null);
  }

  set(row: number, value: unknown): void {
    this.#values[row] = value;
  }

  inOrder(rows: Uint32Array): ColumnValues {
    return Array.from(rows, row => this.#values[row]);
  }
}

/** The writer would interpret a number as milliseconds, so times are bigints. */
const time = (us: number | null) => (us === null ? null : BigInt(us));

interface CurrentTexts {
  readonly brokers: string;
  readonly record: TimelessRecord | undefined;
  /** The columns from here on are undefined if there is no record. */
  readonly brokersAtCrossmatch?: string;
  readonly outcomes?: string;
  readonly provenance?: string;
  readonly provenanceSet?: string;
}

/** The data for the cells of an object. */
interface Exported extends CurrentTexts {
  readonly object: ObjectView;
  readonly isPending: boolean;
  /** The matches that answers list. */
  readonly listed: readonly StoredMatch[];
  readonly tns: TnsAssociation | null;
}

/** The matches that answers list: none while the object is pending. */
function listedMatches(object: ObjectView): readonly StoredMatch[] {
  return object.state === 'pending' || !object.hasStoredMatches ? [] : object.currentMatches();
}

/** The number of sources in a catalog; null if it was not searched, so that nothing follows from their absence. */
function sourcesIn({ object, isPending, listed, record }: Exported, catalog: string): number | null {
  const found = listed.filter(({ at }) => object.catalogName(at) === catalog).length;
  return found > 0 || outcomeOf(isPending, record?.catalogOutcomes, catalog) === 'searched' ? found : null;
}

type OwnName = Exclude<ShownIn<'archive'>, PlaceName | 'older_crossmatches'>;

const CELLS: Readonly<Record<OwnName, (of: Exported) => unknown>> = {
  status: ({ isPending, listed, record }) =>
    isPending ? 'crossmatch_pending' : crossmatchedStatus(listed.length > 0, record?.catalogOutcomes),
  reliability: ({ object }) => object.reliability,
  position_error_mas: ({ object }) => object.positionErrorMas,
  ingest_time: ({ object }) => time(object.ingestTimeUs),
  event_time: ({ object }) => time(object.eventTimeUs),
  brokers: of => of.brokers,
  match_version: of => of.record?.matchVersion,
  crossmatched_at: ({ object, record }) => record && time(object.crossmatchedAtUs),
  provenance_set: of => of.provenanceSet,
  matches: of => of.listed.length,
  tns_checked: of => of.tns?.checked,
  tns_name: of => of.tns?.name,
  tns_name_prefix: of => of.tns?.namePrefix,
  tns_classification: of => of.tns?.classification,
  tns_redshift: of => of.tns?.redshift,
  tns_separation_arcsec: of => of.tns?.separationArcsec,
  brokers_at_crossmatch: of => of.brokersAtCrossmatch,
  catalog_outcomes: of => of.outcomes,
  provenance: of => of.provenance,
  tns_snapshot_epoch: ({ tns }) => tns && time(tns.snapshotEpochUs),
  tns_objid: ({ tns }) => (tns?.objid == null ? null : BigInt(tns.objid)),
};

const MAX_KEPT = 4096;

export class ObjectRows extends Rows {
  readonly #store: Store;
  readonly #cells: readonly ((of: Exported) => unknown)[];
  /** Strings that many objects have in common. */
  readonly #texts = new Map<string, CurrentTexts>();
  #association: { readonly text: string; readonly tns: TnsAssociation | null } = { text: '', tns: null };

  /** @param store the store that has the provenance sets */
  constructor(store: Store, catalogs: readonly CatalogDefinition[], columns: readonly HatsColumn[], capacity: number) {
    super(columns, capacity);
    this.#store = store;
    const older = ({ object, record }: Exported) => (record && object.hasOlder ? this.#olderText(object) : null);
    const own = { ...CELLS, older_crossmatches: older };
    this.#cells = [
      ...OWN.map(({ name }) => own[name]),
      ...catalogs.map(
        ({ name }) =>
          (of: Exported) =>
            outcomeOf(of.isPending, of.record?.catalogOutcomes, name),
      ),
      ...catalogs.map(
        ({ name }) =>
          (of: Exported) =>
            sourcesIn(of, name),
      ),
    ];
  }

  add(object: ObjectView): void {
    this.setPlace(object);
    const isPending = object.state === 'pending';
    const tns = this.#tnsOf(object.tns);
    const listed = listedMatches(object);
    const of: Exported = { ...this.#textsOf(object.current), object, isPending, listed, tns };
    this.#cells.forEach((cell, i) => {
      this.set(PLACE.length + i, cell(of));
    });
    this.length++;
  }

  #textsOf(text: string): CurrentTexts {
    let texts = this.#texts.get(text);
    if (!texts) {
      const { brokers, record } = readCurrent(text);
      texts = { brokers: brokers.join(' '), record, ...this.#recordTexts(record) };
      if (this.#texts.size >= MAX_KEPT) this.#texts.clear();
      this.#texts.set(text, texts);
    }
    return texts;
  }

  #recordTexts(record: TimelessRecord | undefined): Omit<CurrentTexts, 'brokers' | 'record'> {
    if (!record) return {};
    const { hash, set } = this.#store.provenanceSet(record.provenanceSet);
    return {
      brokersAtCrossmatch: record.brokersAtCrossmatch.join(' '),
      outcomes: JSON.stringify(Object.fromEntries(record.catalogOutcomes)),
      provenance: JSON.stringify(set),
      provenanceSet: hash,
    };
  }

  #olderText(object: ObjectView): string {
    const older = object.decode().records.slice(0, -1);
    return JSON.stringify(
      older.map(record => ({
        match_version: record.matchVersion,
        crossmatched_at_us: record.crossmatchedAtUs,
        brokers_at_crossmatch: record.brokersAtCrossmatch,
        catalog_outcomes: Object.fromEntries(record.catalogOutcomes),
        provenance: this.#store.provenanceSet(record.provenanceSet).set,
      })),
    );
  }

  /**
   * The association in an object's section. Objects without a nearby registry object have the same section, so the last
   * result is cached.
   */
  #tnsOf(text: string): TnsAssociation | null {
    if (text !== this.#association.text) this.#association = { text, tns: readAssociation(text) };
    return this.#association.tns;
  }
}

interface PayloadOrder {
  /** The index of each column's value in a payload; -1 if it has none. */
  readonly order: readonly number[];
  /** Whether the keys of the payload are the catalog's columns. */
  readonly isWhole: boolean;
}

export class MatchRows extends Rows {
  readonly #store: Store;
  /** Cached orders by catalog and ordinal of the keys. */
  readonly #orders = new Map<string, PayloadOrder>();

  readonly #places: MatchColumns['places'];
  readonly #kept: MatchesKept;
  /** The last crossmatch: many objects have the same text. */
  #current: { readonly text: string; readonly record: TimelessRecord | undefined } = { text: '', record: undefined };

  /** @param store the store that has the keys of payloads */
  constructor(store: Store, { kept, columns, places }: MatchColumns, capacity: number) {
    super(columns, capacity);
    this.#store = store;
    this.#kept = kept;
    this.#places = places;
  }

  add(object: ObjectView, sources: readonly SourceValues[]): void {
    const listed = listedMatches(object);
    const rows = this.#kept === 'all' ? object.matches().map((at, index) => ({ at, index })) : listed;
    for (const { at, index } of rows) {
      const source = sources[index]!;
      const catalog = object.catalogName(at);
      this.setPlace(object);
      this.set(4, object.matchVersion(at));
      this.set(5, catalog);
      this.#setId(catalog, object.sourceId(at));
      const [separation, separationAtEpoch] = object.separations(at);
      this.set(8, separation);
      this.set(9, finite(source.ra));
      this.set(10, finite(source.dec));
      if (separationAtEpoch !== undefined) this.set(11, separationAtEpoch);
      if (!this.#setPayload(catalog, source)) this.set(12, this.#payloadText(source));
      const statistics = object.statistics(at);
      if (statistics) {
        const worth = worthOf({ separationArcsec: separation, separationAtEpochArcsec: separationAtEpoch }, statistics);
        for (const [i, value] of [...Object.values(worth), statistics.version].entries()) this.set(13 + i, value);
      }
      this.set(21, this.#releaseOf(object, at, catalog));
      if (this.#kept === 'all')
        this.set(
          22,
          listed.some(each => each.at === at),
        );
      this.length++;
    }
  }

  /** The release of the catalog in the settings of the match's crossmatch. */
  #releaseOf(object: ObjectView, at: number, catalog: string): string | undefined {
    const version = object.matchVersion(at);
    if (object.current !== this.#current.text) this.#current = { text: object.current, ...readCurrent(object.current) };
    const { record } = this.#current;
    const made =
      record?.matchVersion === version || !object.hasOlder
        ? record
        : object.decode().records.find(({ matchVersion }) => matchVersion === version);
    return made?.matchVersion === version ? this.#store.releaseIn(made, catalog) : undefined;
  }

  /**
   * Sets the column of integer ids or that of text ids. If the catalog is not registered, the form of the id decides.
   */
  #setId(catalog: string, id: string): void {
    const integer = this.#places.get(catalog)?.hasTextIds ? undefined : integerId(id);
    if (integer === undefined) this.set(7, id);
    else this.set(6, integer);
  }

  /** Sets the columns of the payload to the values that they can hold. Returns whether they hold all of it exactly. */
  #setPayload(catalog: string, { keys, values }: SourceValues): boolean {
    const place = this.#places.get(catalog);
    if (!place || keys === null) return false;
    const { at, columns } = place;
    const { order, isWhole } = this.#orderOf(catalog, place, keys);
    let isExact = isWhole;
    for (let i = 0; i < order.length; i++) {
      const value = order[i] === -1 ? null : values[order[i]!];
      const cell = exactCell(columns[i]!, value);
      isExact &&= cell !== undefined;
      this.set(at + i, cell === undefined ? payloadCell(columns[i]!, value) : cell);
    }
    return isExact;
  }

  /** An import stores keys that are integers first, because JSON objects in JavaScript list them first. */
  #orderOf(catalog: string, { columns }: PayloadPlace, ordinal: number): PayloadOrder {
    const key = `${catalog} ${ordinal}`;
    let found = this.#orders.get(key);
    if (!found) {
      const keys = this.#store.payloadKeys(ordinal);
      const order = columns.map(({ name }) => keys.indexOf(name));
      found = { order, isWhole: keys.length === columns.length && !order.includes(-1) };
      this.#orders.set(key, found);
    }
    return found;
  }

  #payloadText({ keys, values }: SourceValues): string {
    if (keys === null) return 'null';
    const names = this.#store.payloadKeys(keys);
    return toJson(Object.fromEntries(names.map((name, i) => [name, values[i]])), COMPACT);
  }
}

const finite = (value: number | null) => (value !== null && Number.isFinite(value) ? value : null);

/**
 * A cell with the value: null for NaN, undefined for a value that the column cannot hold exactly. Infinities stay in
 * columns of floats, although an export line has null for them.
 */
function exactCell(column: Column, value: unknown) {
  if (typeof value === 'number' && column.type === 'float64') return Number.isNaN(value) ? null : value;
  if (value === null || (typeof value === 'number' && !Number.isFinite(value))) return null;
  const isExact = typeof value !== 'bigint' || column.type === 'int64' || Number.isSafeInteger(Number(value));
  return isExact ? payloadCell(column, value) : undefined;
}
