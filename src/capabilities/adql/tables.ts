/** The tables of TAP: their names, their columns, and the queries that make them of the relations of an export. */
import { type DescribedTable, quoted, spelled, tableName, textLiteral } from '@nearsky/adql';
import type { Column, ColumnType } from '@nearsky/astrotables';
import { datatypeOf, withOwnNames } from '@nearsky/astrotables';
import { HEALPIX_COLUMN } from '@nearsky/hats/layout';
import type { HatsColumn } from '@nearsky/hats/write';
import type { CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import { positionKeys } from '../catalogs/payload_columns.ts';
import { IS_CURRENT, matchColumns, objectColumns } from '../hats/columns.ts';
import { OBJECT_ID_COLUMN } from '../vo/object_links.ts';
import { BESIDE } from './beside_tables.ts';
import type { ForeignKey, ListedTable } from './listed_table.ts';
import { principalKeys, SOURCES, sourceTables } from './source_tables.ts';
import { ID, PIXEL, POSITION, SCHEMA } from './table_names.ts';

/** The relations of an export, from which the tables are made. */
export type Exported = 'objects' | 'matches';

/** The Parquet files with the rows of each relation. */
export type Rows = Readonly<Record<Exported, readonly string[]>>;

/** Returns the SQL name of a relation. */
export type Relations = (relation: Exported | 'settings') => string;

export interface TapTable extends ListedTable {
  /**
   * The query that returns the table's rows; undefined for `objects`, which is stored with all columns of the
   * export. Queries see only the columns that the table lists.
   */
  readonly sql?: (relationOf: Relations) => string;
}

interface SourceColumn {
  readonly column: Column;
  readonly sql: string;
}

/** The columns of an export that contain JSON. Other tables have their values. */
const IN_JSON: ReadonlySet<string> = new Set(['catalog_outcomes', 'provenance', 'older_crossmatches']);

/** The columns that let the engine skip parts of a table, or find rows at once. */
export const INDEXED: ReadonlySet<string> = new Set([PIXEL, ID, POSITION.ra, POSITION.dec]);

/** Whether conditions on this column are fast. */
export function isIndexed({ position, partial }: DescribedTable, { name }: Column): boolean {
  if (!position) return false;
  if (!partial) return INDEXED.has(name);
  return name === position.ra || name === position.dec || (partial.idPixel !== undefined && name === partial.id);
}

/** The columns of an exported relation, renamed as in the tables. */
export function relationColumns(columns: readonly HatsColumn[]): HatsColumn[] {
  return withOwnNames(columns.map(each => (each.name === HEALPIX_COLUMN ? { ...each, name: PIXEL } : each)));
}

/** A column of a relation. */
function stored({ name, type, unit, ucd, description }: HatsColumn, as = name): SourceColumn {
  const xmlId = as === ID && { xmlId: OBJECT_ID_COLUMN };
  const column = { name: as, type, ...(unit && { unit }), ...(ucd && { ucd }), ...xmlId, description };
  return { column, sql: quoted(name) };
}

const SOURCE_ID = 'catalog_source_id';
/** The column beside `SOURCE_ID` for catalogs with text ids. */
const SOURCE_NAME = 'catalog_source_name';

/** The columns of a match that repeat the id and position of its source. */
const LINKED = { id: SOURCE_ID, ra: 'source_ra', dec: 'source_dec' };

/** The same column, but if it is the id column, its type is text. */
function withTextId(each: SourceColumn): SourceColumn {
  if (each.column.name !== SOURCE_ID) return each;
  return {
    column: { ...each.column, type: 'text', description: "The source's identifier in its catalog" },
    sql: `coalesce(${quoted(SOURCE_NAME)}, CAST(${quoted(SOURCE_ID)} AS VARCHAR))`,
  };
}

/** The rows of a table that is not stored. */
interface View {
  /** Returns what follows FROM in a query of the columns. */
  readonly from: (relationOf: Relations) => string;
  /** An expression that differs for each row. */
  readonly rowId: string;
}

/** @param view the view that provides the rows; by default the relation with the table's name */
function table(name: string, description: string, columns: readonly SourceColumn[], view?: View): TapTable {
  const list = columns.map(({ column, sql }) => `${sql} AS ${quoted(column.name)}`);
  // Translated queries number the rows of a table by `rowid`, which views lack.
  if (view && columns.every(({ column }) => column.name.toLowerCase() !== 'rowid')) list.push(`${view.rowId} AS rowid`);
  return {
    schema: SCHEMA,
    name,
    description,
    columns: columns.map(({ column }) => column),
    position: POSITION,
    ...(view && { sql: relationOf => `SELECT ${list.join(', ')} FROM ${view.from(relationOf)}` }),
    refers: name === 'objects' ? [] : [{ from: ID, table: `${SCHEMA}.objects`, target: ID }],
  };
}

function setting(
  name: string,
  type: ColumnType,
  description: string,
  sql: string,
  more: Partial<Column> = {},
): SourceColumn {
  return { column: { name, type, description, ...more }, sql };
}

/** The outcomes and settings of a crossmatch, one row per catalog. */
const OUTCOMES: readonly SourceColumn[] = [
  setting('catalog_name', 'text', 'The catalog', 'outcome.key'),
  setting('outcome', 'text', 'Outcome of the crossmatch with the catalog', 'outcome.value'),
  setting(
    'catalog_release',
    'text',
    'The release of the catalog that was searched',
    // Unlike CAST, this takes entries with other keys, such as `proper_motion`.
    `list_filter(json_transform(settings->'catalogs', '[{"name": "VARCHAR", "release": "VARCHAR"}]'), lambda each: each.name = outcome.key)[1].release`,
  ),
  setting(
    'crossmatch_radius_arcsec',
    'float64',
    'The radius of the crossmatch',
    `CAST(settings->>'crossmatch_radius_arcsec' AS DOUBLE)`,
    { unit: 'arcsec', ucd: 'pos.angDistance' },
  ),
];

const outcomesIn = (json: string) =>
  `unnest(map_entries(CAST(CAST(${json} AS JSON) AS MAP(VARCHAR, VARCHAR)))) AS outcome`;

/** The columns that identify a set of outcomes and settings. Many objects share a set. */
export const SET_KEY = 'catalog_outcomes, provenance_set';

/** The query of the rows that objects need in `settings`: one for each set and catalog. Few sets differ. */
export function settingsOf(objects: string): string {
  const list = OUTCOMES.map(({ column, sql }) => `${sql} AS ${column.name}`).join(', ');
  return `SELECT ${SET_KEY}, ${list} FROM (SELECT *, ${outcomesIn('catalog_outcomes')}, CAST(provenance AS JSON) AS settings
    FROM (SELECT DISTINCT ${SET_KEY}, provenance FROM ${objects} WHERE catalog_outcomes IS NOT NULL))`;
}

/** The tables of matches: those of the newest crossmatch of each object, and those of earlier ones. */
const AGES = [
  { suffix: '', objects: 'the newest crossmatch of each object: at most one per catalog', where: IS_CURRENT },
  {
    suffix: '_history',
    objects: 'earlier crossmatches, which no longer count',
    where: `NOT ${IS_CURRENT}`,
  },
] as const;

function ofEachAge(make: (age: (typeof AGES)[number], where: string) => TapTable): TapTable[] {
  return AGES.map(age => make(age, age.where));
}

const matchesWhere = (where: string): View => ({
  from: relationOf => `${relationOf('matches')} WHERE ${where}`,
  rowId: 'rowid',
});

/** All tables except TAP_SCHEMA. */
export function archiveTables({
  all: catalogs,
  footprintOrders,
}: Pick<Catalogs, 'all' | 'footprintOrders'>): TapTable[] {
  const isRegistered = (name: string) => footprintOrders?.has(name) ?? false;
  const objects = new Map(relationColumns(objectColumns(catalogs)).map(column => [column.name, stored(column)]));
  const ofObject = (...names: readonly string[]) => names.map(name => objects.get(name)!);
  const place = ofObject(PIXEL, ID, 'ra', 'dec');
  const plain = [...objects].flatMap(([name, column]) => (IN_JSON.has(name) ? [] : column));
  const { columns: exported, places } = matchColumns(catalogs, 'all');
  const columns = relationColumns(exported);
  const shared = columns.slice(0, Math.min(columns.length, ...[...places.values()].map(({ at }) => at)));
  const ofMatch = shared
    .filter(({ name }) => name !== 'catalog_payload' && name !== IS_CURRENT)
    .map(column => stored(column));
  const ofSource = ofMatch.filter(({ column }) => column.name !== 'catalog_name' && column.name !== SOURCE_NAME);
  return [
    table('objects', 'The objects: one row each', plain),
    ...ofEachAge((age, where) =>
      table(
        `matches${age.suffix}`,
        `The coincident sources of ${age.objects}, of all catalogs`,
        ofMatch,
        matchesWhere(where),
      ),
    ),
    table(
      'crossmatches',
      'The outcomes of the current crossmatch of each object, by catalog',
      [
        ...place,
        ...OUTCOMES.map(({ column }) => ({ column, sql: column.name })),
        ...ofObject('match_version', 'crossmatched_at', 'brokers_at_crossmatch', 'provenance_set'),
      ],
      {
        from: relationOf => `${relationOf('objects')} JOIN ${relationOf('settings')} USING (${SET_KEY})`,
        rowId: `row(${ID}, catalog_name)`,
      },
    ),
    table(
      'older_crossmatches',
      'The outcomes of the earlier crossmatches of each object, by catalog',
      [...place, ...OUTCOMES, ...ofObject('match_version', 'crossmatched_at', 'brokers_at_crossmatch')],
      {
        from: relationOf => `(SELECT * REPLACE (older.match_version AS match_version, make_timestamp(older.crossmatched_at_us) AS crossmatched_at,
          array_to_string(older.brokers_at_crossmatch, ' ') AS brokers_at_crossmatch),
          older.provenance AS settings, ${outcomesIn('older.catalog_outcomes')}
        FROM (SELECT *, unnest(CAST(CAST(older_crossmatches AS JSON) AS STRUCT(match_version INTEGER, crossmatched_at_us BIGINT,
            brokers_at_crossmatch VARCHAR[], catalog_outcomes JSON, provenance JSON)[])) AS older
          FROM ${relationOf('objects')} WHERE older_crossmatches IS NOT NULL))`,
        rowId: `row(${ID}, older.match_version, outcome.key)`,
      },
    ),
    table(
      'reliability_cuts',
      'The reliability below which each broker at the current crossmatch of an object leaves alerts out',
      [
        ...place,
        setting('broker', 'text', 'The broker', 'cut.broker', { ucd: 'meta.id' }),
        setting(
          'min_reliability',
          'float64',
          'The least reliability that is passed on; null if it is not known',
          'cut.min_reliability',
        ),
        setting('enforced_by', 'text', 'Who leaves the alerts out: broker or service', 'cut.enforced_by'),
        setting('cut_status', 'text', 'How the cut is known: declared, not_declared or service_setting', 'cut.status'),
        setting('as_of', 'text', 'The date of the declaration', 'cut.as_of', { ucd: 'time' }),
        ...ofObject('provenance_set'),
      ],
      {
        from: relationOf => `(SELECT * FROM (SELECT *, unnest(CAST(CAST(provenance AS JSON)->'reliability_cuts' AS STRUCT(broker VARCHAR, min_reliability DOUBLE,
          enforced_by VARCHAR, status VARCHAR, as_of VARCHAR)[])) AS cut FROM ${relationOf('objects')} WHERE provenance IS NOT NULL)
        WHERE list_contains(string_split(brokers_at_crossmatch, ' '), cut.broker))`,
        rowId: `row(${ID}, cut)`,
      },
    ),
    table(
      'tns',
      'The objects that lie near an object of the registry of transients, with that object',
      [...place, ...[...objects].filter(([name]) => name.startsWith('tns_')).map(([, column]) => column)],
      { from: relationOf => `${relationOf('objects')} WHERE tns_objid IS NOT NULL`, rowId: 'rowid' },
    ),
    ...catalogs.flatMap(catalog => {
      const { at, columns: payload } = places.get(catalog.name)!;
      const repeated = positionKeys(catalog);
      const own = payload.flatMap(({ name }, i) =>
        repeated.includes(name) ? [] : stored(columns[at + i]!, quotedName(catalog, name)),
      );
      const all = [...(catalog.idType === 'text' ? ofSource.map(withTextId) : ofSource), ...own];
      const { epoch } = catalog;
      const isOfSource = ({ name }: Column) => name === LINKED.ra || name === LINKED.dec;
      const names = withOwnNames(
        all.map(({ column }) => (epoch && isOfSource(column) ? { ...column, epoch: epoch.value } : column)),
      );
      const principal = new Set([...PRINCIPAL, ...principalKeys(catalog)]);
      const source = { from: SOURCE_ID, table: `${catalog.name}.${SOURCES}`, target: catalog.idColumn };
      return ofEachAge((age, where) => {
        const matches = table(
          `${catalog.name}_matches${age.suffix}`,
          `The coincident sources of ${age.objects} in ${catalog.release}, with their columns`,
          all.map(({ sql }, i) => ({ column: names[i]!, sql })),
          matchesWhere(`catalog_name = ${textLiteral(catalog.name)} AND ${where}`),
        );
        const refers = isRegistered(catalog.name) ? [...matches.refers, source] : matches.refers;
        return { ...matches, linked: { ...LINKED, schema: catalog.name }, principal, refers };
      });
    }),
  ];
}

/** The name of a payload's column. A name that needs quotes is case-sensitive, so it is that of `CATALOG.sources`. */
function quotedName({ columns }: CatalogDefinition, key: string): string {
  const own = columns.find(({ name }) => name.toLowerCase() === key)!.name;
  return spelled(own) === own ? key : own;
}

const column = (name: string, type: ColumnType, description: string): Column => ({ name, type, description });
const text = (name: string, description: string) => column(name, 'text', description);
const integer = (name: string, description: string) => column(name, 'int32', description);

/** The tables of TAP_SCHEMA (TAP 1.1, section 4). */
const TAP_SCHEMA = {
  schemas: [
    text('schema_name', 'Name of the schema'),
    text('utype', 'UType of the schema'),
    text('description', 'What is in the schema'),
    integer('schema_index', 'Place in a list of schemas'),
  ],
  tables: [
    text('schema_name', 'Name of the schema'),
    text('table_name', 'Name of the table, as queries spell it'),
    text('table_type', 'table or view'),
    text('utype', 'UType of the table'),
    text('description', 'What is in the table'),
    integer('table_index', 'Place in a list of tables'),
  ],
  columns: [
    text('table_name', 'Name of the table'),
    text('column_name', 'Name of the column, as queries spell it'),
    text('datatype', 'Type as in VOTable'),
    text('arraysize', 'Size as in VOTable'),
    text('xtype', 'Extended type as in VOTable'),
    integer('size', 'Size, where it is one number'),
    text('description', 'What is in the column'),
    text('utype', 'UType of the column'),
    text('unit', 'Unit, in VOUnits'),
    text('ucd', 'UCD of the column'),
    integer('indexed', '1 where conditions on the column are fast'),
    integer('principal', '1 for the columns that matter most'),
    integer('std', '1 for columns of a standard'),
    integer('column_index', 'Place in the table'),
  ],
  keys: [
    text('key_id', 'Name of the key'),
    text('from_table', 'The table that refers'),
    text('target_table', 'The table referred to'),
    text('description', 'What the key says'),
    text('utype', 'UType of the key'),
  ],
  key_columns: [
    text('key_id', 'Name of the key'),
    text('from_column', 'Column of the table that refers'),
    text('target_column', 'Column of the table referred to'),
  ],
} as const;

const refer = (from: string, table: string, target: string): ForeignKey => ({
  from,
  table: `TAP_SCHEMA.${table}`,
  target,
});

const KEYS: Partial<Record<keyof typeof TAP_SCHEMA, readonly ForeignKey[]>> = {
  tables: [refer('schema_name', 'schemas', 'schema_name')],
  columns: [refer('table_name', 'tables', 'table_name')],
  keys: [refer('from_table', 'tables', 'table_name'), refer('target_table', 'tables', 'table_name')],
  key_columns: [refer('key_id', 'keys', 'key_id')],
};

type Cell = string | number | null;

const SCHEMA_DESCRIPTIONS: Readonly<Record<string, string>> = {
  [SCHEMA]: 'Objects of the Rubin Observatory, and what lies at their positions',
  TAP_SCHEMA: 'The tables of this service',
};

/** The contents of a schema. */
export function schemaDescription(schema: string, tables: readonly ListedTable[]): string {
  const known = SCHEMA_DESCRIPTIONS[schema];
  return known ?? tables.find(table => table.schema === schema && table.name === SOURCES)!.description;
}

/** The most important columns. */
const PRINCIPAL: ReadonlySet<string> = new Set([
  ID,
  'ra',
  'dec',
  'status',
  'catalog_name',
  SOURCE_ID,
  SOURCE_NAME,
  'separation_arcsec',
  'outcome',
]);

/** TAP_SCHEMA, which describes itself and the other tables. */
function schemaTables(others: readonly ListedTable[]): TapTable[] {
  const own = Object.entries(TAP_SCHEMA).map(([name, columns]) => ({
    schema: 'TAP_SCHEMA',
    name,
    refers: KEYS[name as keyof typeof TAP_SCHEMA] ?? [],
    description: `The ${name.replace('_', ' ')} of this service`,
    columns,
  }));
  const tables: readonly ListedTable[] = [...others, ...own];
  const keys = tables.flatMap(each =>
    each.refers.map(key => ({ ...key, of: tableName(each), id: `${each.schema}_${each.name}_${key.from}` })),
  );
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  const rows: Readonly<Record<keyof typeof TAP_SCHEMA, readonly (readonly Cell[])[]>> = {
    schemas: schemas.map((schema, i) => [schema, null, schemaDescription(schema, tables), i]),
    tables: tables.map((each, i) => [each.schema, tableName(each), 'table', null, each.description, i]),
    columns: tables.flatMap(each =>
      each.columns.map((about, i) => {
        const { datatype, arraysize = null, xtype = null } = datatypeOf(about);
        const isStandard = each.schema === 'TAP_SCHEMA';
        const isPrincipal = isStandard || (each.principal ?? PRINCIPAL).has(about.name);
        const flags = [isIndexed(each, about), isPrincipal, isStandard].map(Number);
        const { name, description, unit = null, ucd = null } = about;
        return [
          tableName(each),
          spelled(name),
          datatype,
          arraysize,
          xtype,
          null,
          description,
          null,
          unit,
          ucd,
          ...flags,
          i,
        ];
      }),
    ),
    keys: keys.map(({ id, of, table }) => [id, of, table, null, null]),
    key_columns: keys.map(({ id, from, target }) => [id, spelled(from), spelled(target)]),
  };
  return own.map(each => {
    const list = each.columns.map(({ name }) => quoted(name)).join(', ');
    const cells = rows[each.name as keyof typeof TAP_SCHEMA].map(row =>
      row.map(
        (cell, i) =>
          `${cell === null ? 'NULL' : typeof cell === 'number' ? cell : textLiteral(cell)}::${each.columns[i]!.type === 'text' ? 'VARCHAR' : 'INTEGER'}`,
      ),
    );
    return {
      ...each,
      sql: () => `SELECT * FROM (VALUES ${cells.map(row => `(${row.join(', ')})`).join(', ')}) AS t(${list})`,
    };
  });
}

/** The tables that the engine stores. */
export function tapTables(catalogs: Catalogs): readonly TapTable[] {
  const archive = archiveTables(catalogs);
  return [...archive, ...schemaTables([...archive, ...BESIDE, ...sourceTables(catalogs)])];
}

/** Every table that queries can name, in the order of the documents. */
export function listedTables(catalogs: Catalogs): readonly ListedTable[] {
  const stored = tapTables(catalogs);
  const isOwn = ({ schema }: ListedTable) => schema === SCHEMA;
  return [...stored.filter(isOwn), ...BESIDE, ...sourceTables(catalogs), ...stored.filter(table => !isOwn(table))];
}
