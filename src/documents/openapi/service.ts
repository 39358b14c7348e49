/** Schemas of the service's information about itself. */
import { DATABASE_STATES, RESOLUTION_STATES } from '../../contract/enums.ts';
import { GENERIC_FILTERS } from '../../contract/filters.ts';
import { contractVersion, reliabilityCuts, serviceVersion } from './common.ts';
import {
  always,
  boolean,
  type Components,
  closed,
  count,
  integer,
  list,
  number,
  oneOfNames,
  orNull,
  ref,
  type Schema,
  type ServiceName,
  text,
  time,
} from './schema.ts';

export function serviceSchemas(): Components<ServiceName> {
  return {
    ServiceStatus: closed('Whether the service can answer now.', {
      provenance: ref('Provenance'),
      database: oneOfNames(DATABASE_STATES, 'State of the database.'),
      service_version: serviceVersion,
      contract_version: contractVersion,
      tns_resolution: oneOfNames(RESOLUTION_STATES, 'Whether registry names can be resolved.'),
      tns_snapshot_epoch: orNull(time('Epoch of the registry snapshot; null unless names can be resolved.')),
    }),
    FilterableField: closed('What match filters can bound: a catalog property, or the chance probability.', {
      name: text('Its name, lowercased.'),
      unit: text('Its unit, and that of its filters.'),
      description: text('Its meaning.'),
      column: orNull(text("The column in the catalog's own case; null if it is none.")),
      derived_from: orNull(
        closed('The two properties whose quotient it is; null if it is none.', {
          numerator: text('The property that is divided.'),
          denominator: text('The property that it is divided by.'),
        }),
      ),
      parameters: list({ type: 'string' }, 'Names of the two filters: minimum, maximum.', { minItems: 2, maxItems: 2 }),
    }),
    CatalogDescription: catalogDescription,
    ServiceDescription: serviceDescription,
  };
}

const catalogDescription = closed('A catalog of the service.', {
  name: text('Name of the catalog in this API.'),
  release: text('Release of the catalog.'),
  catalog_source_id: closed('What `catalog_source_id` is.', {
    column: text('The column that it comes from.'),
    description: text('What it identifies.'),
  }),
  filterable_fields: list(
    ref('FilterableField'),
    'What match filters can bound: columns, quotients of columns, and the chance probability.',
  ),
  coverage_map: closed('The footprint that decides whether a position is searched.', {
    footprint_moc_order: orNull(
      integer(
        'HEALPix order',
        "Order of the pixels that are in use here; the note says where it is not the catalog's own order.",
        { minimum: 0 },
      ),
    ),
    resolution_arcmin: orNull(number('arcmin', 'Side of a pixel.', { exclusiveMinimum: 0 })),
    note: text('What follows for the outcome of a search.'),
  }),
});

const named = (description: string): Schema =>
  closed(description, { name: text('The value.'), description: text('What it means.') });

const bytes = (description: string) => integer('byte', description, { minimum: 0 });
const seconds = (description: string) => number('s', description, { exclusiveMinimum: 0 });
const radius = number('arcsec', 'The largest radius of a search, inclusive.', { exclusiveMinimum: 0 });

const limits = closed('Limits of a request.', {
  request_budget_seconds: seconds('Time budget.'),
  max_ids: count('Identifiers per lookup.'),
  max_positions: count('Positions and registry names per lookup, together.'),
  max_cone_radius_arcsec: number('arcsec', 'The largest radius of a search.', { exclusiveMinimum: 0 }),
  max_objects_per_position: count('Objects listed per position or registry name; default size of a cone page.'),
  max_objects_per_request: count('Objects listed per lookup; the largest cone page.'),
  recent_crossmatches: closed('Limits of the walk over recent crossmatches.', {
    default_page_size: count('Objects per page unless asked.'),
    max_page_size: count('The largest page.'),
    max_window_hours: number('h', 'The longest window, inclusive.', { exclusiveMinimum: 0 }),
  }),
  tables: closed('Limits of a table to crossmatch.', {
    max_rows: count('Rows of the table.'),
    max_columns: count('Columns of the table.'),
    max_row_bytes: bytes('Bytes of a row in a text format.'),
    max_bytes: bytes('Bytes of the table, without compression.'),
    max_matches: count('Matches of all rows.'),
    max_radius_arcsec: radius,
    budget_seconds: seconds('Time for the table to arrive, and again for its crossmatch, unless it becomes a job.'),
  }),
  areas: closed('Limits of an area.', {
    max_bytes: bytes('Bytes of the area as sent.'),
    max_unpacked_bytes: bytes('Bytes of the area, without gzip.'),
    max_cells: count('Cells of a MOC, or pixels of a map of probability.'),
    max_polygon_vertices: count('Vertices of a polygon.'),
    max_objects_examined: count('Objects that are examined for one page, about, where filters leave some out.'),
  }),
  streams: closed('Limits of the streams that follow an area.', {
    max_areas: count('Streams that follow an area.'),
    max_positions: count('Positions of a table.'),
    max_radius_arcsec: radius,
  }),
  sources: closed('Limits of a search for catalog sources.', {
    max_radius_arcsec: radius,
    default_limit: count('Sources listed unless asked.'),
    max_limit: count('Sources listed at most.'),
  }),
  jobs: closed('Limits of jobs: crossmatches of tables, and queries in ADQL.', {
    max_jobs: count('Stored jobs, including finished ones.'),
    max_jobs_per_client: count('Stored jobs of one client.'),
    max_bytes: bytes('Disk space for all jobs together.'),
    retention_hours: number('h', 'How long a job and its result are kept.', { exclusiveMinimum: 0 }),
    max_run_seconds: seconds('Run time of a job.'),
    max_wait_seconds: seconds('How long a request for a job waits for another phase (`WAIT`).'),
  }),
  tap: closed('Limits of queries in ADQL.', {
    max_queries: count('Queries at once; 0 where the service answers none.'),
    max_rows: count('Rows of an answer (`MAXREC`).'),
    max_query_seconds: seconds('Run time of a query that is not a job.'),
    max_uploads: count('Tables sent with a query.'),
    max_upload_bytes: bytes('Bytes of these tables together.'),
  }),
});

const genericFilter = closed('A filter that belongs to no one catalog.', {
  name: text('Name of the filter.'),
  kind: text(
    `What it filters by: ${GENERIC_FILTERS.map(({ kind }) => kind)
      .filter(distinct)
      .join(', ')}.`,
  ),
  bound: orNull({
    type: 'string',
    enum: ['min', 'max'],
    description: 'Which bound it sets, inclusive: `min` the least value, `max` the greatest; null if it is no bound.',
  }),
  unit: orNull(text('Unit of its value; null if it is no number.')),
  is_match_filter: boolean('Whether a source must meet it; else the object itself.'),
  description: text('What it does.'),
});

function distinct<T>(value: T, index: number, values: readonly T[]): boolean {
  return values.indexOf(value) === index;
}

const serviceDescription = closed('The live configuration of the service.', {
  provenance: ref('Provenance'),
  catalogs: list(ref('CatalogDescription'), 'The catalogs, in configured order.'),
  crossmatch: closed('The crossmatch.', {
    radius_arcsec: number('arcsec', 'Radius, inclusive.', { exclusiveMinimum: 0 }),
    nearest_source_per_catalog: always(true, 'Only the nearest source of each catalog is kept.'),
    description: text('The rule.'),
  }),
  tns: closed('Searches by registry name.', {
    default_radius_arcsec: number('arcsec', 'Radius unless asked.', { exclusiveMinimum: 0 }),
    max_radius_arcsec: number('arcsec', 'The largest radius.', { exclusiveMinimum: 0 }),
  }),
  limits,
  detail_levels: list(named('A detail level.'), 'The detail levels, each adding to the one before.'),
  default_detail: text('The detail level unless asked.'),
  response_modes: list(named('A response mode.'), 'The response modes.'),
  generic_filters: list(genericFilter, 'The filters that belong to no one catalog.'),
  reliability_cuts: reliabilityCuts,
  provenance_recording_release: text('The release from which provenance is recorded per object.'),
  mcp: closed('The connector for chat assistants.', {
    path: text('Path, relative to the base address.'),
    method: text('HTTP method.'),
    transport: text('Transport of the protocol.'),
    authentication: text('How to authenticate.'),
    description: text('What it offers.'),
    tools: list(
      closed('A tool.', { name: text('Name of the tool.'), title: text('Title of the tool.') }),
      'The tools, in the order of `tools/list`.',
    ),
  }),
});
