/**
 * The tables that cone searches answer with, each column with the source of its cells. Simple Cone Search 1.03 (section
 * 2.2) requires UCD1 in three columns, and an id that is text; the id as its catalog has it stands beside it.
 */

import { type CatalogDefinition, type Catalogs, perCatalogs } from '../contract/catalogs.ts';
import { CATALOG_OUTCOMES, type CatalogOutcome, namesOf } from '../contract/enums.ts';
import { CROSSMATCH_FIELDS, OBJECT_FIELDS, type ObjectField, TNS_FIELDS } from '../contract/object_fields.ts';
import { integerId } from '../contract/source_ids.ts';
import { type ListedMatch, newestMatches } from '../store/newest_matches.ts';
import { statusOf } from '../store/status.ts';
import type { StoredObject } from '../store/types.ts';
import { type Cell, type Column, columnOf, type Table, withOwnNames } from '../tables/columns.ts';
import { payloadCell, payloadColumns, positionKeys } from '../tables/payload_columns.ts';
import { timeCell } from '../tables/timestamp.ts';

/** The number of columns: 1 the fewest, 3 all of them. */
export type Verbosity = 1 | 2 | 3;
export const DEFAULT_VERBOSITY: Verbosity = 2;

/** The target of a cone search that is no catalog. */
export const OBJECTS = 'objects';

/** The targets of cone searches: the objects, or the coincident sources of one catalog. */
export function coneTargets({ all }: Catalogs): string[] {
  return [OBJECTS, ...all.map(({ name }) => name)];
}

/** A column, and its cell in a row that is made from a T. */
export interface Filled<T> extends Column {
  /** Undefined where the stored value is not of the column's type. */
  readonly cell: (of: T) => Cell | undefined;
  /** The lowest verbosity at which the column is listed. */
  readonly from: Verbosity;
}

export interface FilledTable<T> extends Table {
  readonly columns: readonly Filled<T>[];
}

/** An object in a cone. */
export interface ConeObject {
  readonly object: StoredObject;
  /** The separation from the centre of the cone. */
  readonly separationArcsec: number;
}

/** A coincident source in a cone. */
export interface ConeSource {
  readonly ra: number;
  readonly dec: number;
  /** The separation from the centre of the cone. */
  readonly separationArcsec: number;
  readonly catalogSourceId: string;
  /** The separation from the object. */
  readonly objectSeparationArcsec: number;
  /** The same at the time of the event; undefined where no motion is applied. */
  readonly objectSeparationAtEpochArcsec: number | undefined;
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly object: StoredObject;
}

/** The current matches of an object; matches that remain on a pending object are not current. */
export function currentMatches({ state, matches }: StoredObject): readonly ListedMatch[] {
  return state === 'pending' || matches.length === 0 ? [] : newestMatches(matches);
}

type Described = Omit<Column, 'name' | 'description'>;
const ASCII: Described = { type: 'text', isAscii: true };
const ANGLE: Described = { type: 'float64', unit: 'arcsec', ucd: 'pos.angDistance' };
const DEGREES: Described = { type: 'float64', unit: 'deg' };

function field<T>(
  from: Verbosity,
  name: string,
  what: Described,
  description: string,
  cell: Filled<T>['cell'],
): Filled<T> {
  return { name, ...what, description, from, cell };
}

/** The column of a field that other answers have too. */
function known<T>(from: Verbosity, name: string, known: ObjectField, cell: Filled<T>['cell']): Filled<T> {
  return { ...columnOf(name, known), from, cell };
}

const outcomes = namesOf(CATALOG_OUTCOMES).join(', ');
const { status, reliability, event_time, ingest_time, brokers } = OBJECT_FIELDS;

/** The columns of an object beside its id and position. */
const objectColumns = perCatalogs(({ all }): readonly Filled<StoredObject>[] => [
  { ...known(2, 'status', status, statusOf), isAscii: true },
  known(2, 'reliability', reliability, o => o.reliability),
  known(2, 'event_time', event_time, o => timeCell(o.eventTimeUs)),
  known(2, 'ingest_time', ingest_time, o => timeCell(o.ingestTimeUs)),
  ...all.map(({ name, release }) =>
    field<StoredObject>(
      2,
      `n_${name}`,
      { type: 'int32', ucd: 'meta.number' },
      `Coincident sources in ${release}; null where it was not searched`,
      object => countOf(object, name),
    ),
  ),
  known(3, 'brokers', brokers, o => o.brokers.join(' ')),
  known(3, 'crossmatched_at', CROSSMATCH_FIELDS.crossmatched_at, o => timeCell(recordOf(o)?.crossmatchedAtUs)),
  ...all.map(({ name, release }) =>
    field<StoredObject>(
      3,
      `outcome_${name}`,
      { ...ASCII, ucd: 'meta.code' },
      `Search of ${release}: ${outcomes}`,
      object => outcomeOf(object, name),
    ),
  ),
  known(3, 'tns_name', TNS_FIELDS.name, o => o.tns?.name ?? null),
  known(3, 'tns_prefix', TNS_FIELDS.name_prefix, o => o.tns?.namePrefix ?? null),
  known(3, 'tns_type', TNS_FIELDS.classification, o => o.tns?.classification ?? null),
  known(3, 'tns_redshift', TNS_FIELDS.redshift, o => o.tns?.redshift ?? null),
  known(3, 'tns_separation', TNS_FIELDS.separation_arcsec, o => o.tns?.separationArcsec ?? null),
]);

/** The current crossmatch; undefined while one is pending or where none is recorded. */
function recordOf({ state, records }: StoredObject) {
  return state === 'pending' ? undefined : records.at(-1);
}

/** Null while the object is pending. */
function outcomeOf(object: StoredObject, catalog: string): CatalogOutcome | null {
  if (object.state === 'pending') return null;
  const record = recordOf(object);
  if (!record) return 'not_recorded';
  return record.catalogOutcomes.find(([name]) => name === catalog)?.[1] ?? 'not_in_service_at_crossmatch';
}

function countOf(object: StoredObject, catalog: string): number | null {
  const count = currentMatches(object).filter(({ match }) => match.catalogName === catalog).length;
  return count > 0 || outcomeOf(object, catalog) === 'searched' ? count : null;
}

/** An object's column as a column of a row that has an object. */
function ofObject<T extends { readonly object: StoredObject }>(
  field: Filled<StoredObject>,
  change: Partial<Column & Pick<Filled<T>, 'from'>> = {},
): Filled<T> {
  return { ...field, ...change, cell: ({ object }) => field.cell(object) };
}

const objectsTable = perCatalogs(
  (catalogs): FilledTable<ConeObject> => ({
    name: OBJECTS,
    description: 'Alert objects of the Rubin Observatory',
    columns: [
      field(1, 'id', { ...ASCII, ucd: 'ID_MAIN' }, 'diaObjectId as text', ({ object }) => `${object.diaObjectId}`),
      field(
        1,
        'diaObjectId',
        { type: 'int64', ucd: 'meta.id;meta.main' },
        'Identifier',
        ({ object }) => object.diaObjectId,
      ),
      field(1, 'ra', { ...DEGREES, ucd: 'POS_EQ_RA_MAIN' }, 'Right ascension, ICRS', ({ object }) => raOf(object)),
      field(1, 'dec', { ...DEGREES, ucd: 'POS_EQ_DEC_MAIN' }, 'Declination, ICRS', ({ object }) => decOf(object)),
      field(2, 'separation', ANGLE, 'From the centre of the cone', o => o.separationArcsec),
      ...objectColumns(catalogs).map(each => ofObject<ConeObject>(each)),
    ],
  }),
);

const raOf = ({ position }: StoredObject) => position?.ra ?? null;
const decOf = ({ position }: StoredObject) => position?.dec ?? null;

/** The columns of a source that describe its object. */
const ASSOCIATED = ['status', 'reliability', 'event_time', 'tns_name', 'tns_prefix', 'tns_type', 'tns_redshift'];

function sourcesTable(catalog: CatalogDefinition, catalogs: Catalogs): FilledTable<ConeSource> {
  const { name, release, idColumn, idType = 'int64', epoch } = catalog;
  const id = idColumn.toLowerCase();
  const at = epoch ? `, ICRS, at ${epoch.column}` : ', ICRS';
  const repeated = positionKeys(catalog);
  const payload = payloadColumns(catalog).filter(each => !repeated.includes(each.name));
  return {
    name,
    description: `Sources of ${release} that coincide with alert objects of the Rubin Observatory; a row for each source and object`,
    columns: withOwnNames([
      field(
        1,
        'id',
        { type: 'text', isAscii: idType !== 'text', ucd: 'ID_MAIN' },
        `${id}/diaObjectId`,
        s => `${s.catalogSourceId}/${s.object.diaObjectId}`,
      ),
      field(1, id, { type: idType, ucd: 'meta.id;meta.main' }, `${idColumn} of ${release}`, s =>
        idType === 'text' ? s.catalogSourceId : integerId(s.catalogSourceId),
      ),
      field(1, 'ra', { ...DEGREES, ucd: 'POS_EQ_RA_MAIN' }, `Right ascension${at}`, s => s.ra),
      field(1, 'dec', { ...DEGREES, ucd: 'POS_EQ_DEC_MAIN' }, `Declination${at}`, s => s.dec),
      field(2, 'separation', ANGLE, 'From the centre of the cone', s => s.separationArcsec),
      field(
        1,
        'diaObjectId',
        { type: 'int64', ucd: 'meta.id.assoc' },
        'Its object',
        ({ object }) => object.diaObjectId,
      ),
      field(2, 'object_separation', ANGLE, 'From its object', s => s.objectSeparationArcsec),
      ...(catalog.motion
        ? [
            field<ConeSource>(
              3,
              'object_separation_at_epoch',
              ANGLE,
              'From its object at the time of the event, by proper motion; null where none is applied',
              s => s.objectSeparationAtEpochArcsec ?? null,
            ),
          ]
        : []),
      field(2, 'object_ra', { ...DEGREES, ucd: 'pos.eq.ra' }, 'Right ascension of its object', ({ object }) =>
        raOf(object),
      ),
      field(2, 'object_dec', { ...DEGREES, ucd: 'pos.eq.dec' }, 'Declination of its object', ({ object }) =>
        decOf(object),
      ),
      ...payload.map(each =>
        field<ConeSource>(2, each.name, each, each.description, s => payloadCell(each, s.payload?.[each.name])),
      ),
      ...objectColumns(catalogs)
        .filter(each => ASSOCIATED.includes(each.name))
        .map(each =>
          ofObject<ConeSource>(each, {
            from: 3,
            name: each.name.startsWith('tns') ? each.name : `object_${each.name}`,
            description: `${each.description}, of its object`,
          }),
        ),
    ]),
  };
}

const sourcesTables = perCatalogs(
  (catalogs): ReadonlyMap<string, FilledTable<ConeSource>> =>
    new Map(catalogs.all.map(catalog => [catalog.name, sourcesTable(catalog, catalogs)])),
);

/** The columns that are listed at a verbosity. */
function listed<T>(table: FilledTable<T>, verbosity: Verbosity): FilledTable<T> {
  return { ...table, columns: table.columns.filter(({ from }) => from <= verbosity) };
}

export function objectsAt(verbosity: Verbosity, catalogs: Catalogs): FilledTable<ConeObject> {
  return listed(objectsTable(catalogs), verbosity);
}

/** @param catalog the name of one of the catalogs */
export function sourcesAt(catalog: string, verbosity: Verbosity, catalogs: Catalogs): FilledTable<ConeSource> {
  return listed(sourcesTables(catalogs).get(catalog)!, verbosity);
}

/**
 * The table of a cone search, without its cells.
 * @param target one of `coneTargets`
 */
export function coneTable(target: string, verbosity: Verbosity, catalogs: Catalogs): Table {
  return target === OBJECTS ? objectsAt(verbosity, catalogs) : sourcesAt(target, verbosity, catalogs);
}
