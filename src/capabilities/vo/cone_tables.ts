/**
 * Defines the tables that cone searches return. Each column has a function for its cells. Simple Cone Search 1.03
 * (section 2.2) requires UCD1 in three columns, and an id that is a string. A second column has the id in the catalog's
 * own type.
 */

import { type Cell, type Column, type Table, withOwnNames } from '@nearsky/astrotables';
import { timeCell } from '@nearsky/astrotables/timestamp';
import { memoized } from '../../core/base/memoized.ts';
import type { CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import {
  catalogFields,
  columnOf,
  MATCH_FIELDS,
  OBJECT_FIELDS,
  type ObjectField,
  RELEASE_FIELDS,
  type ShownIn,
  shownIn,
} from '../../core/contract/object_fields.ts';
import { integerId } from '../../core/contract/source_ids.ts';
import { currentMatches, type ListedMatch } from '../../core/store/current_matches.ts';
import { outcomeOf, statusOf } from '../../core/store/status.ts';
import type { StoredObject } from '../../core/store/types.ts';
import { payloadCell, payloadColumns, positionKeys } from '../catalogs/payload_columns.ts';
import { OBJECT_ID_COLUMN } from './object_links.ts';

/** How many columns to include: 1 for the fewest, 3 for all. */
export type Verbosity = 1 | 2 | 3;
export const DEFAULT_VERBOSITY: Verbosity = 2;

/** The name of the cone search for objects. The other cone searches have the name of a catalog. */
export const OBJECTS = 'objects';

/** The names of the cone searches: for the objects, and for the coincident sources of each catalog. */
export function coneTargets({ all }: Catalogs): string[] {
  return [OBJECTS, ...all.map(({ name }) => name)];
}

/** A column, and the function that returns its cell for a T. */
interface Filled<T> extends Column {
  /** Undefined if the stored value does not fit the column's type. */
  readonly cell: (of: T) => Cell | undefined;
  /** The lowest verbosity that includes the column. */
  readonly from: Verbosity;
}

export interface FilledTable<T> extends Table {
  readonly columns: readonly Filled<T>[];
}

interface ConeObject {
  readonly object: StoredObject;
  /** The separation from the centre of the cone. */
  readonly separationArcsec: number;
}

export interface ConeSource {
  readonly ra: number;
  readonly dec: number;
  /** The separation from the centre of the cone. */
  readonly separationArcsec: number;
  readonly catalogSourceId: string;
  readonly objectSeparationArcsec: number;
  /** The separation at the time of the event. Undefined if no motion is applied. */
  readonly objectSeparationAtEpochArcsec: number | undefined;
  /** The release of the catalog in which the source was found; undefined if it is not recorded. */
  readonly release: string | undefined;
  readonly payload: Readonly<Record<string, unknown>> | null;
  readonly object: StoredObject;
}

/** The current matches of an object; none while it is pending. */
export function shownMatches(object: StoredObject): readonly ListedMatch[] {
  return object.state === 'pending' ? [] : currentMatches(object);
}

type Described = Omit<Column, 'name' | 'description'>;
const ASCII: Described = { type: 'text', isAscii: true };
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

/** A column for a field that other answers also have. */
function known<T>(from: Verbosity, name: string, known: ObjectField, cell: Filled<T>['cell']): Filled<T> {
  return { ...columnOf(name, known), from, cell };
}

const CELLS: Readonly<Record<ShownIn<'cone'>, Filled<StoredObject>['cell']>> = {
  status: statusOf,
  reliability: o => o.reliability,
  ingest_time: o => timeCell(o.ingestTimeUs),
  event_time: o => timeCell(o.eventTimeUs),
  brokers: o => o.brokers.join(' '),
  crossmatched_at: o => timeCell(recordOf(o)?.crossmatchedAtUs),
  tns_name: o => o.tns?.name ?? null,
  tns_name_prefix: o => o.tns?.namePrefix ?? null,
  tns_classification: o => o.tns?.classification ?? null,
  tns_redshift: o => o.tns?.redshift ?? null,
  tns_separation_arcsec: o => o.tns?.separationArcsec ?? null,
};

/** The columns of an object, besides its id and position. */
const objectColumns = memoized(({ all }: Catalogs): readonly Filled<StoredObject>[] => [
  ...shownIn('cone').map(({ name, field, shown }) => ({
    ...known(shown, name, field, CELLS[name]),
    ...(name === 'status' && { isAscii: true }),
  })),
  ...all.flatMap(catalog => {
    const { outcome, matches } = catalogFields(catalog);
    const { name } = catalog;
    return [
      { ...known<StoredObject>(3, `${name}_outcome`, outcome, o => outcomeIn(o, name)), isAscii: true },
      known<StoredObject>(2, `${name}_matches`, matches, o => countOf(o, name)),
    ];
  }),
]);

/** The current crossmatch. Undefined while it is pending, or if none is recorded. */
function recordOf({ state, records }: StoredObject) {
  return state === 'pending' ? undefined : records.at(-1);
}

const outcomeIn = (object: StoredObject, catalog: string) =>
  outcomeOf(object.state === 'pending', recordOf(object)?.catalogOutcomes, catalog);

function countOf(object: StoredObject, catalog: string): number | null {
  const count = shownMatches(object).filter(({ match }) => match.catalogName === catalog).length;
  return count > 0 || outcomeIn(object, catalog) === 'searched' ? count : null;
}

/** Converts an object's column into a column for rows that contain an object. */
function ofObject<T extends { readonly object: StoredObject }>(
  field: Filled<StoredObject>,
  change: Partial<Column & Pick<Filled<T>, 'from'>> = {},
): Filled<T> {
  return { ...field, ...change, cell: ({ object }) => field.cell(object) };
}

const objectsTable = memoized(
  (catalogs: Catalogs): FilledTable<ConeObject> => ({
    name: OBJECTS,
    description: 'Alert objects of the Rubin Observatory',
    columns: [
      field(1, 'id', { ...ASCII, ucd: 'ID_MAIN' }, 'diaObjectId as text', ({ object }) => `${object.diaObjectId}`),
      field(
        1,
        'diaObjectId',
        { type: 'int64', ucd: 'meta.id;meta.main', xmlId: OBJECT_ID_COLUMN },
        'Identifier',
        ({ object }) => object.diaObjectId,
      ),
      field(1, 'ra', { ...DEGREES, ucd: 'POS_EQ_RA_MAIN' }, 'Right ascension, ICRS', ({ object }) => raOf(object)),
      field(1, 'dec', { ...DEGREES, ucd: 'POS_EQ_DEC_MAIN' }, 'Declination, ICRS', ({ object }) => decOf(object)),
      known(2, 'separation_arcsec', OBJECT_FIELDS.separation_arcsec, o => o.separationArcsec),
      ...objectColumns(catalogs).map(each => ofObject<ConeObject>(each)),
    ],
  }),
);

const raOf = ({ position }: StoredObject) => position?.ra ?? null;
const decOf = ({ position }: StoredObject) => position?.dec ?? null;

/** The columns of a source that describe its object. */
const ASSOCIATED: readonly string[] = [
  'status',
  'reliability',
  'event_time',
  'tns_name',
  'tns_name_prefix',
  'tns_classification',
  'tns_redshift',
] satisfies ShownIn<'cone'>[];

function sourcesTable(catalog: CatalogDefinition, catalogs: Catalogs): FilledTable<ConeSource> {
  const { name, release, idColumn, idType = 'int64', epoch } = catalog;
  const id = idColumn.toLowerCase();
  const at = epoch ? `, ICRS, at ${epoch.column}` : ', ICRS';
  const repeated = positionKeys(catalog);
  const payload = payloadColumns(catalog).filter(each => !repeated.includes(each.name));
  return {
    name,
    description: `Sources of ${release} that coincide with alert objects of the Rubin Observatory; one row per source and object`,
    columns: withOwnNames([
      field(
        1,
        'id',
        { type: 'text', isAscii: idType !== 'text', ucd: 'ID_MAIN' },
        `${id}/diaObjectId`,
        // A former release, or an import, may have had other ids than integers.
        s => `${idType === 'text' ? s.catalogSourceId : encodeURI(s.catalogSourceId)}/${s.object.diaObjectId}`,
      ),
      field(1, id, { type: idType, ucd: 'meta.id;meta.main' }, `${idColumn} of ${release}`, s =>
        idType === 'text' ? s.catalogSourceId : integerId(s.catalogSourceId),
      ),
      field(1, 'ra', { ...DEGREES, ucd: 'POS_EQ_RA_MAIN' }, `Right ascension${at}`, s => s.ra),
      field(1, 'dec', { ...DEGREES, ucd: 'POS_EQ_DEC_MAIN' }, `Declination${at}`, s => s.dec),
      known(2, 'separation_arcsec', OBJECT_FIELDS.separation_arcsec, s => s.separationArcsec),
      field(
        1,
        'diaObjectId',
        { type: 'int64', ucd: 'meta.id.assoc', xmlId: OBJECT_ID_COLUMN },
        'Its object',
        ({ object }) => object.diaObjectId,
      ),
      known(2, 'object_separation_arcsec', MATCH_FIELDS.separation_arcsec, s => s.objectSeparationArcsec),
      ...(catalog.motion
        ? [
            known<ConeSource>(
              3,
              'object_separation_at_epoch_arcsec',
              MATCH_FIELDS.separation_at_epoch_arcsec,
              s => s.objectSeparationAtEpochArcsec ?? null,
            ),
          ]
        : []),
      known(3, 'catalog_release', RELEASE_FIELDS.catalog_release, s => s.release ?? null),
      field(2, 'object_ra', { ...DEGREES, ucd: 'pos.eq.ra' }, "Right ascension of the source's object", ({ object }) =>
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

const sourcesTables = memoized(
  (catalogs: Catalogs): ReadonlyMap<string, FilledTable<ConeSource>> =>
    new Map(catalogs.all.map(catalog => [catalog.name, sourcesTable(catalog, catalogs)])),
);

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
