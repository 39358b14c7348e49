/**
 * The table form of an answer: one row per object, and one per input without an object. The columns depend only on the
 * request and the catalogs in service, so all pages of a walk have the same columns.
 */

import { type Cell, type Column, type Row, type Table, withOwnNames } from '@nearsky/astrotables/columns';
import { toJson } from '@nearsky/astrotables/json';
import { timeCell } from '@nearsky/astrotables/timestamp';
import type { AnsweredInput, AnsweredObject, Match, Time } from '../../core/answers/answered.ts';
import { parseTime } from '../../core/base/parse_time.ts';
import type { CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import { DETAIL_LEVELS, type DetailLevel, namesOf } from '../../core/contract/enums.ts';
import {
  catalogFields,
  columnOf,
  MATCH_FIELDS,
  OBJECT_COLUMNS,
  type ObjectField,
  RELEASE_FIELDS,
  TNS_FIELDS,
  WORTH_FIELDS,
  WORTH_KEYS,
} from '../../core/contract/object_fields.ts';
import { integerId } from '../../core/contract/source_ids.ts';
import { payloadCell, payloadColumns } from '../catalogs/payload_columns.ts';

interface RowSource {
  /** The input of a lookup; undefined for other answers. */
  readonly input: AnsweredInput | undefined;
  /** Undefined if the input has no object. */
  readonly object: AnsweredObject | undefined;
}

/** The options that decide the columns. */
export interface TableOptions {
  readonly of: 'lookup' | 'cone' | 'recent' | 'area' | 'objects';
  readonly detail: DetailLevel;
  readonly hasFilters: boolean;
  /** Whether the objects have credible levels. */
  readonly hasLevels?: boolean;
  /** The catalogs, in the order of their columns. */
  readonly catalogs: Catalogs;
}

interface Gathered extends RowSource {
  readonly sources: ReadonlyMap<string, CatalogSources>;
}

interface CatalogSources {
  readonly count: number;
  readonly nearest: Match;
}

interface Field extends Column {
  /** The lowest level of detail that includes the column; undefined if all do. */
  readonly from?: DetailLevel | undefined;
  readonly cell: (row: Gathered) => Cell | undefined;
}

const int64 = (id: string | bigint | undefined): bigint | undefined => (id === undefined ? undefined : BigInt(id));
/** The cell of a source's id; undefined if an import has stored text for a catalog with integer ids. */
const idCell = ({ idType }: CatalogDefinition, id: string) => (idType === 'text' ? id : integerId(id));
const time = (at: Time | null | undefined): Cell | undefined => (typeof at === 'string' ? parseTime(at) : timeCell(at));

/** Maps the objects of a JSON answer to rows. */
export class ObjectTable implements Table {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Field[];

  /** @param onLeftOut called for each id and payload value that does not fit its column, and becomes null in the row */
  constructor(options: TableOptions, onLeftOut: () => void) {
    this.name = options.of;
    this.description = DESCRIPTIONS[options.of];
    this.columns = fieldsOf(options, onLeftOut);
  }

  row(source: RowSource): Row {
    const gathered = { ...source, sources: sourcesByCatalog(source.object?.matches ?? []) };
    return this.columns.map(({ cell }) => cell(gathered) ?? null);
  }
}

const DESCRIPTIONS: Readonly<Record<TableOptions['of'], string>> = {
  lookup: 'Results of a lookup: a row for each object of each input, and one for each input without an object.',
  cone: 'Objects within a radius of a position, by ingest time, then identifier.',
  recent: 'Objects in a window of time that have coincident sources, latest first.',
  area: 'Objects in an area of the sky, by credible level if there is one, then HEALPix pixel of order 16 (NESTED), then identifier.',
  objects: 'Objects that have coincident sources, latest first.',
};

function sourcesByCatalog(matches: readonly Match[]): ReadonlyMap<string, CatalogSources> {
  const sources = new Map<string, CatalogSources>();
  for (const match of matches) {
    const known = sources.get(match.catalog_name);
    const isNearer = !known || separationOf(match) < separationOf(known.nearest);
    sources.set(match.catalog_name, { count: (known?.count ?? 0) + 1, nearest: isNearer ? match : known.nearest });
  }
  return sources;
}

const separationOf = ({ separation_arcsec, separation_at_epoch_arcsec }: Match) =>
  separation_at_epoch_arcsec ?? separation_arcsec ?? Number.POSITIVE_INFINITY;

function fieldsOf(
  { of, detail, hasFilters, hasLevels = false, catalogs: { all } }: TableOptions,
  onLeftOut: () => void,
): Field[] {
  const isRecent = of === 'recent';
  const fields = [
    ...(of === 'lookup' ? INPUT_FIELDS : []),
    IDENTIFIER,
    ...(isRecent ? [] : [STATUS]),
    ...POSITION,
    ...(of === 'lookup' || of === 'cone' ? [SEPARATION] : []),
    ...(hasLevels ? [CREDIBLE_LEVEL] : []),
    ...(isRecent ? [] : [...DELIVERY, ...CROSSMATCH, ...all.map(outcomeField)]),
    MATCHES,
    ...all.flatMap(catalog => matchFields(catalog, onLeftOut)),
    ...tnsFields(isRecent),
    ...(hasFilters ? QUALIFICATION : []),
  ];
  const levels = namesOf(DETAIL_LEVELS);
  return withOwnNames(fields).filter(({ from }) => !from || levels.indexOf(from) <= levels.indexOf(detail));
}

/** The column of an object's field. */
function column(name: string, field: ObjectField, cell: Field['cell']): Field {
  const { description, ...rest } = columnOf(name, field);
  return { ...rest, description: `${description}.`, from: field.from, cell };
}

/** A column of an object's field. By default its cell is the object's value of that name. */
function own(name: keyof typeof OBJECT_COLUMNS, cell?: Field['cell']): Field {
  const key = name as keyof AnsweredObject;
  return column(name, OBJECT_COLUMNS[name], cell ?? (({ object }) => object?.[key] as Cell | undefined));
}

const INPUT_FIELDS: readonly Field[] = [
  {
    name: 'input_index',
    type: 'int32',
    ucd: 'meta.record',
    description: 'Index of the input in the request, from 0.',
    cell: ({ input }) => input!.index,
  },
  {
    name: 'input_kind',
    type: 'text',
    ucd: 'meta.code',
    description: 'Kind of the input: id, position or tns, or as it was sent if the input is invalid.',
    cell: ({ input }) => input!.kind,
  },
  {
    name: 'input_status',
    type: 'text',
    ucd: 'meta.code.status',
    description:
      'Status of the input. A row without an object is an input that has no object, or that could not be looked up.',
    cell: ({ input }) => input!.status,
  },
  {
    name: 'input',
    type: 'text',
    ucd: 'meta.note',
    description:
      'The input: an identifier, right ascension and declination in degrees, or a name as sent; JSON if it is invalid.',
    cell: ({ input }) => inputText(input!),
  },
  {
    name: 'input_error',
    type: 'text',
    ucd: 'meta.note',
    description: 'What is wrong with an invalid input.',
    cell: ({ input }) => input!.error?.message,
  },
  {
    name: 'input_total',
    type: 'int32',
    ucd: 'meta.number',
    description: 'Objects within the radius of a position or name, whether listed or not; null if no search ran.',
    cell: ({ input }) => input!.total,
  },
  {
    name: 'input_truncation',
    type: 'text',
    ucd: 'meta.code',
    description: 'Why not all objects are listed: per_input_limit or per_request_limit; null if all are listed.',
    cell: ({ input }) => input!.truncation,
  },
];

function inputText({ normalized, input }: AnsweredInput): string {
  if (!normalized) return toJson(input);
  const { diaObjectId_str, ra, dec, name } = normalized;
  // A name as sent, because its prefix may decide whether it is found.
  if (name !== undefined) return typeof input === 'string' ? input : (input as { readonly name: string }).name;
  return diaObjectId_str ?? `${ra} ${dec}`;
}

const IDENTIFIER = own('diaObjectId', ({ object }) => int64(object?.diaObjectId_str));
const STATUS = own('status');
const POSITION = [own('ra'), own('dec')];
const SEPARATION = own('separation_arcsec');
const CREDIBLE_LEVEL = own('credible_level');
const DELIVERY = [
  own('reliability'),
  own('ingest_time', ({ object }) => time(object?.ingest_time)),
  own('event_time', ({ object }) => time(object?.event_time)),
  own('brokers', ({ object }) => object?.brokers?.join(' ')),
];
const CROSSMATCH = [
  own('match_version', ({ object }) => object?.crossmatch?.match_version),
  own('crossmatched_at', ({ object }) => time(object?.crossmatch?.crossmatched_at)),
  own('provenance_set', ({ object }) => object?.crossmatch?.provenance_set),
];

function outcomeField(catalog: CatalogDefinition): Field {
  const { name } = catalog;
  const cell: Field['cell'] = ({ object }) => object?.crossmatch?.catalog_outcomes[name];
  return column(`${name}_outcome`, catalogFields(catalog).outcome, cell);
}

const MATCHES = own('matches', ({ object }) => object?.matches?.length);

const AT_EPOCH = 'separation_at_epoch_arcsec' satisfies keyof typeof MATCH_FIELDS;

function matchFields(definition: CatalogDefinition, onLeftOut: () => void): Field[] {
  const catalog = definition.name;
  const nearest = `the nearest source of ${catalog}`;
  const of =
    (read: (match: Match) => Cell | undefined): Field['cell'] =>
    ({ sources }) => {
      const found = sources.get(catalog);
      return found && read(found.nearest);
    };
  const field = (name: string, field: ObjectField, from: DetailLevel, read: (match: Match) => Cell | undefined) => ({
    ...column(`${catalog}_${name}`, field, of(read)),
    from,
  });
  return [
    column(
      `${catalog}_matches`,
      catalogFields(definition).matches,
      ({ object, sources }) =>
        sources.get(catalog)?.count ?? (object?.crossmatch?.catalog_outcomes[catalog] === 'searched' ? 0 : undefined),
    ),
    {
      name: `${catalog}_source_id`,
      type: definition.idType ?? 'int64',
      ucd: 'meta.id.cross',
      description: `Identifier of ${nearest}, ${definition.idType === 'text' ? 'a text' : 'a 64-bit integer'}; unique only within ${catalog}.`,
      from: 'matches',
      cell: of(match => {
        const id = idCell(definition, match.catalog_source_id);
        if (id === undefined) onLeftOut();
        return id;
      }),
    },
    field('separation_arcsec', MATCH_FIELDS.separation_arcsec, 'matches', match => match.separation_arcsec),
    ...(definition.motion ? [field(AT_EPOCH, MATCH_FIELDS[AT_EPOCH], 'full', match => match[AT_EPOCH])] : []),
    field('release', RELEASE_FIELDS.catalog_release, 'full', match => match.catalog_release),
    ...WORTH_KEYS.map(key => field(key, WORTH_FIELDS[key], 'full', ({ statistics }) => statistics?.[key])),
    ...sourceFields(definition, nearest, of, onLeftOut),
  ];
}

type ReadNearest = (read: (match: Match) => Cell | undefined) => Field['cell'];

function sourceFields(definition: CatalogDefinition, nearest: string, of: ReadNearest, onLeftOut: () => void): Field[] {
  const catalog = definition.name;
  const coordinate = (name: 'ra' | 'dec', what: string): Field => ({
    name: `${catalog}_${name}`,
    type: 'float64',
    unit: 'deg',
    ucd: `pos.eq.${name}`,
    description: `${what} of ${nearest}, as the catalog has it.`,
    from: 'full',
    cell: of(match => match[name]),
  });
  const position = [coordinate('ra', 'Right ascension'), coordinate('dec', 'Declination')];
  const payload = payloadColumns(definition).map(
    (column): Field => ({
      ...column,
      name: `${catalog}_${column.name}`,
      description: `${column.description}, of ${nearest}.`,
      from: 'full',
      cell: of(({ catalog_payload }) => {
        const cell = payloadCell(column, catalog_payload?.[column.name]);
        if (cell === undefined) onLeftOut();
        return cell;
      }),
    }),
  );
  return [...position, ...payload.filter(({ name }) => position.every(each => each.name !== name))];
}

function tnsFields(isRecent: boolean): Field[] {
  const names = Object.keys(TNS_FIELDS) as (keyof typeof TNS_FIELDS)[];
  return names
    .filter(name => !isRecent || name !== 'name_prefix')
    .map(name => ({
      ...own(`tns_${name}`, ({ object }) => object?.tns?.[name]),
      from: isRecent ? 'full' : TNS_FIELDS[name].from,
    }));
}

const QUALIFICATION = (['qualifies', 'qualifies_reason'] as const).map(name =>
  own(name, ({ object, input }) => (object ?? input)?.[name]),
);
