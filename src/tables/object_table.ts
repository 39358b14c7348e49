/**
 * The table of an answer: one row an object, and one for each input that has no object. Its columns follow from the
 * request and the catalogs in service, so that all pages of a walk have the same columns.
 */
import { toJson } from '../base/json_text.ts';
import { parseTime } from '../base/parse_time.ts';
import { catalogDefinition } from '../contract/catalogs.ts';
import type { DetailLevel } from '../contract/enums.ts';
import type { Cell, Column, Row, Table } from './columns.ts';
import { payloadCell, payloadColumns } from './payload_columns.ts';

/** A coincident source, as JSON answers show it; the last three properties at `full`. */
interface Match {
  readonly catalog_name: string;
  readonly catalog_source_id: string;
  readonly separation_arcsec: number | null;
  readonly ra?: number | null;
  readonly dec?: number | null;
  readonly catalog_payload?: Readonly<Record<string, unknown>> | null;
  readonly tns_checked?: boolean;
  readonly tns?: Tns;
}

interface Tns {
  readonly checked?: boolean;
  readonly name: string | null;
  readonly name_prefix?: string | null;
  readonly classification: string | null;
  readonly redshift: number | null;
  readonly separation_arcsec: number | null;
}

/** An object, as JSON answers show it; its properties depend on the level of detail. */
export interface AnsweredObject {
  readonly diaObjectId_str: string;
  readonly status?: string;
  readonly ra?: number | null;
  readonly dec?: number | null;
  readonly separation_arcsec?: number;
  readonly reliability?: number | null;
  readonly ingest_time?: string;
  readonly event_time?: string;
  readonly brokers?: readonly string[];
  readonly crossmatch?: {
    readonly match_version: number | null;
    readonly crossmatched_at: string | null;
    readonly provenance_set: string | null;
    readonly catalog_outcomes: Readonly<Record<string, string>>;
  } | null;
  readonly matches?: readonly Match[];
  readonly tns?: Tns | null;
  readonly qualifies?: boolean;
  readonly qualifies_reason?: string;
}

/** The result of an input, as JSON answers show it, without its objects. */
export interface AnsweredInput {
  readonly index: number;
  readonly kind: string | null;
  readonly input: unknown;
  readonly normalized: {
    readonly diaObjectId_str?: string;
    readonly ra?: number;
    readonly dec?: number;
    readonly name?: string;
  } | null;
  readonly status: string;
  readonly total?: number | null;
  readonly truncated?: boolean;
  readonly truncation?: string | null;
  readonly error?: { readonly message: string };
  readonly qualifies?: boolean;
  readonly qualifies_reason?: string;
}

/** The input and the object of a row. */
export interface RowSource {
  /** The input of a lookup; undefined for other answers. */
  readonly input: AnsweredInput | undefined;
  /** Undefined where the input has no object. */
  readonly object: AnsweredObject | undefined;
}

/** The options that decide the columns. */
export interface TableOptions {
  readonly of: 'lookup' | 'cone' | 'recent';
  readonly detail: DetailLevel;
  readonly hasFilters: boolean;
  /** The names of the catalogs, in the order of the columns. */
  readonly catalogs: readonly string[];
}

interface Gathered extends RowSource {
  /** The sources of each catalog. */
  readonly sources: ReadonlyMap<string, CatalogSources>;
}

interface CatalogSources {
  readonly count: number;
  readonly nearest: Match;
}

interface Field extends Column {
  readonly cell: (row: Gathered) => Cell | undefined;
}

const int64 = (text: string | undefined): bigint | undefined => (text === undefined ? undefined : BigInt(text));
const time = (text: string | null | undefined): number | undefined => (text ? parseTime(text) : undefined);

/** Maps the objects of a JSON answer to rows. */
export class ObjectTable implements Table {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly Field[];

  /** @param onLeftOut called for each value of a payload that is not of its column's type and is null in the row */
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

const separationOf = ({ separation_arcsec }: Match) => separation_arcsec ?? Number.POSITIVE_INFINITY;

function fieldsOf({ of, detail, hasFilters, catalogs }: TableOptions, onLeftOut: () => void): Field[] {
  const isRecent = of === 'recent';
  const hasPosition = detail !== 'ids';
  const isFull = detail === 'full';
  const hasMatches = isFull || detail === 'matches';
  return [
    ...(of === 'lookup' ? INPUT_FIELDS : []),
    IDENTIFIER,
    ...(isRecent ? [] : [STATUS]),
    ...(hasPosition ? POSITION : []),
    ...(isRecent ? [] : [SEPARATION]),
    ...(hasPosition && !isRecent ? DELIVERY : []),
    ...(isRecent ? [] : [...CROSSMATCH, ...catalogs.map(outcomeField)]),
    ...(hasMatches ? [MATCHES, ...catalogs.flatMap(catalog => matchFields(catalog, isFull, onLeftOut))] : []),
    ...(hasMatches && (isFull || !isRecent) ? tnsFields(isRecent) : []),
    ...(hasFilters ? QUALIFICATION : []),
  ];
}

const INPUT_FIELDS: readonly Field[] = [
  {
    name: 'input_index',
    type: 'int32',
    ucd: 'meta.record',
    description: 'Place of the input in the request, from 0.',
    cell: ({ input }) => input!.index,
  },
  {
    name: 'input_kind',
    type: 'text',
    ucd: 'meta.code',
    description: 'Kind of the input: id, position or tns; of an invalid one as it was sent.',
    cell: ({ input }) => input!.kind,
  },
  {
    name: 'input_status',
    type: 'text',
    ucd: 'meta.code.status',
    description:
      'Status of the input. A row without an object is an input for which none is there, or none could be looked up.',
    cell: ({ input }) => input!.status,
  },
  {
    name: 'input',
    type: 'text',
    ucd: 'meta.note',
    description:
      'The input: an identifier, right ascension and declination in degrees, or a name; JSON as sent where it is invalid.',
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
    description: 'Objects within the radius of a position or name, whether listed or not; null where no search ran.',
    cell: ({ input }) => input!.total,
  },
  {
    name: 'input_truncation',
    type: 'text',
    ucd: 'meta.code',
    description:
      'Why fewer objects are listed than there are: per_input_limit or per_request_limit; null where all are.',
    cell: ({ input }) => input!.truncation,
  },
];

function inputText({ normalized, input }: AnsweredInput): string {
  if (!normalized) return toJson(input);
  const { diaObjectId_str, ra, dec, name } = normalized;
  return diaObjectId_str ?? name ?? `${ra} ${dec}`;
}

const IDENTIFIER: Field = {
  name: 'diaObjectId',
  type: 'int64',
  ucd: 'meta.id;meta.main',
  description: 'Identifier of the object, a 64-bit integer.',
  cell: ({ object }) => int64(object?.diaObjectId_str),
};

const STATUS: Field = {
  name: 'status',
  type: 'text',
  ucd: 'meta.code.status',
  description:
    'not_in_service, crossmatch_pending, coincident_sources, no_coincident_source, or not_searched: no catalog was searched.',
  cell: ({ object }) => object?.status,
};

const POSITION: readonly Field[] = [
  {
    name: 'ra',
    type: 'float64',
    unit: 'deg',
    ucd: 'pos.eq.ra;meta.main',
    description: 'Right ascension, ICRS.',
    cell: ({ object }) => object?.ra,
  },
  {
    name: 'dec',
    type: 'float64',
    unit: 'deg',
    ucd: 'pos.eq.dec;meta.main',
    description: 'Declination, ICRS.',
    cell: ({ object }) => object?.dec,
  },
];

const SEPARATION: Field = {
  name: 'separation_arcsec',
  type: 'float64',
  unit: 'arcsec',
  ucd: 'pos.angDistance',
  description: 'Separation from the searched position; null where none was.',
  cell: ({ object }) => object?.separation_arcsec,
};

const DELIVERY: readonly Field[] = [
  {
    name: 'reliability',
    type: 'float64',
    ucd: 'stat.probability',
    description: 'LSST reliability of the first delivery, 0 to 1.',
    cell: ({ object }) => object?.reliability,
  },
  {
    name: 'ingest_time',
    type: 'time',
    ucd: 'time.creation',
    description: 'When the service first stored the object, UTC.',
    cell: ({ object }) => time(object?.ingest_time),
  },
  {
    name: 'event_time',
    type: 'time',
    ucd: 'time.epoch',
    description: "The alert's own time, UTC.",
    cell: ({ object }) => time(object?.event_time),
  },
  {
    name: 'brokers',
    type: 'text',
    ucd: 'meta.curation',
    description: 'Every broker that delivered the object by now, ascending, with spaces between.',
    cell: ({ object }) => object?.brokers?.join(' '),
  },
];

const CROSSMATCH: readonly Field[] = [
  {
    name: 'match_version',
    type: 'int32',
    ucd: 'meta.version',
    description: 'Version of the crossmatch; null while pending or where it was not recorded.',
    cell: ({ object }) => object?.crossmatch?.match_version,
  },
  {
    name: 'crossmatched_at',
    type: 'time',
    ucd: 'time.processing',
    description: 'When the object was crossmatched, UTC.',
    cell: ({ object }) => time(object?.crossmatch?.crossmatched_at),
  },
  {
    name: 'provenance_set',
    type: 'text',
    ucd: 'meta.id',
    description: 'Key of the settings of the crossmatch in provenance_sets of the JSON answer.',
    cell: ({ object }) => object?.crossmatch?.provenance_set,
  },
];

function outcomeField(catalog: string): Field {
  return {
    name: `${catalog}_outcome`,
    type: 'text',
    ucd: 'meta.code.status',
    description: `Whether ${catalog} was searched: searched, outside_footprint, skipped_read_failure, ...; null while pending.`,
    cell: ({ object }) => object?.crossmatch?.catalog_outcomes[catalog],
  };
}

const MATCHES: Field = {
  name: 'matches',
  type: 'int32',
  ucd: 'meta.number',
  description: 'Coincident sources, of all catalogs.',
  cell: ({ object }) => object?.matches?.length,
};

function matchFields(catalog: string, isFull: boolean, onLeftOut: () => void): Field[] {
  const nearest = `the nearest source of ${catalog}`;
  const of =
    (read: (match: Match) => Cell | undefined): Field['cell'] =>
    ({ sources }) => {
      const found = sources.get(catalog);
      return found && read(found.nearest);
    };
  const summary: Field[] = [
    {
      name: `${catalog}_matches`,
      type: 'int32',
      ucd: 'meta.number',
      description: `Coincident sources of ${catalog}.`,
      cell: ({ object, sources }) => object?.matches && (sources.get(catalog)?.count ?? 0),
    },
    {
      name: `${catalog}_source_id`,
      type: 'int64',
      ucd: 'meta.id.cross',
      description: `Identifier of ${nearest}, a 64-bit integer; unique only within ${catalog}.`,
      cell: of(match => int64(match.catalog_source_id)),
    },
    {
      name: `${catalog}_separation_arcsec`,
      type: 'float64',
      unit: 'arcsec',
      ucd: 'pos.angDistance',
      description: `Separation of ${nearest} from the object.`,
      cell: of(match => match.separation_arcsec),
    },
  ];
  return isFull ? [...summary, ...sourceFields(catalog, nearest, of, onLeftOut)] : summary;
}

type ReadNearest = (read: (match: Match) => Cell | undefined) => Field['cell'];

function sourceFields(catalog: string, nearest: string, of: ReadNearest, onLeftOut: () => void): Field[] {
  const coordinate = (name: 'ra' | 'dec', what: string): Field => ({
    name: `${catalog}_${name}`,
    type: 'float64',
    unit: 'deg',
    ucd: `pos.eq.${name}`,
    description: `${what} of ${nearest}, as the catalog has it.`,
    cell: of(match => match[name]),
  });
  const position = [coordinate('ra', 'Right ascension'), coordinate('dec', 'Declination')];
  const definition = catalogDefinition(catalog);
  const payload = (definition ? payloadColumns(definition) : []).map(
    (column): Field => ({
      ...column,
      name: `${catalog}_${column.name}`,
      description: `${column.description}, of ${nearest}.`,
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
  const prefix: Field = {
    name: 'tns_prefix',
    type: 'text',
    ucd: 'meta.id.part',
    description: 'Prefix of that name, such as SN or AT.',
    cell: row => tnsOf(row)?.name_prefix,
  };
  return [
    {
      name: 'tns_checked',
      type: 'boolean',
      ucd: 'meta.code',
      description: 'Whether the registry of transients was looked at when the object was crossmatched.',
      cell: row => tnsOf(row)?.checked,
    },
    {
      name: 'tns_name',
      type: 'text',
      ucd: 'meta.id.cross',
      description: 'Bare name of the nearest registry object; null where there is none.',
      cell: row => tnsOf(row)?.name,
    },
    ...(isRecent ? [] : [prefix]),
    {
      name: 'tns_classification',
      type: 'text',
      ucd: 'src.class',
      description: 'Its classification in the registry.',
      cell: row => tnsOf(row)?.classification,
    },
    {
      name: 'tns_redshift',
      type: 'float64',
      ucd: 'src.redshift',
      description: 'Its redshift in the registry.',
      cell: row => tnsOf(row)?.redshift,
    },
    {
      name: 'tns_separation_arcsec',
      type: 'float64',
      unit: 'arcsec',
      ucd: 'pos.angDistance',
      description: 'Its separation from the object.',
      cell: row => tnsOf(row)?.separation_arcsec,
    },
  ];
}

/** The registry's association: answers have it on the object, the recent crossmatches on each match. */
function tnsOf({ object }: Gathered): Partial<Tns> | null | undefined {
  if (!object || object.tns !== undefined) return object?.tns;
  const match = object.matches?.[0];
  return match?.tns_checked === undefined ? undefined : { checked: match.tns_checked, ...match.tns };
}

const QUALIFICATION: readonly Field[] = [
  {
    name: 'qualifies',
    type: 'boolean',
    ucd: 'meta.code',
    description: 'Whether the object, or an input without one, meets the filters of the request.',
    cell: ({ object, input }) => (object ?? input)?.qualifies,
  },
  {
    name: 'qualifies_reason',
    type: 'text',
    ucd: 'meta.code',
    description: 'Why it does or does not.',
    cell: ({ object, input }) => (object ?? input)?.qualifies_reason,
  },
];
