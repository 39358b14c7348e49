/** Schemas of the service's information about itself. */
import { DATABASE_STATES, RESOLUTION_STATES } from '../../contract/enums.ts';
import { GENERIC_FILTERS } from '../../contract/filters.ts';
import { contractVersion, reliabilityCuts, serviceVersion } from './common.ts';
import {
  always,
  boolean,
  closed,
  count,
  integer,
  list,
  number,
  oneOfNames,
  orNull,
  ref,
  type Schema,
  text,
  time,
} from './schema.ts';

export function serviceSchemas() {
  return {
    ServiceStatus: closed('Whether the service can answer now.', {
      provenance: ref('Provenance'),
      database: oneOfNames(DATABASE_STATES, 'State of the database.'),
      service_version: serviceVersion,
      contract_version: contractVersion,
      tns_resolution: oneOfNames(RESOLUTION_STATES, 'Whether registry names can be resolved.'),
      tns_snapshot_epoch: orNull(time('Epoch of the registry snapshot; null if names cannot be resolved.')),
    }),
    FilterableField: closed(
      'A quantity that match filters can limit: a property of the catalog, or the chance probability.',
      {
        name: text('Its name, lowercased.'),
        unit: text('The unit of the quantity and of its filters.'),
        description: text('Its meaning.'),
        column: orNull(text("The column in the catalog's own case; null for other quantities.")),
        derived_from: orNull(
          closed('The two properties that are divided; null for other quantities.', {
            numerator: text('The dividend.'),
            denominator: text('The divisor.'),
          }),
        ),
        parameters: list({ type: 'string' }, 'Names of the two filters: minimum, maximum.', {
          minItems: 2,
          maxItems: 2,
        }),
      },
    ),
    CatalogDescription: catalogDescription,
    ServiceDescription: serviceDescription,
  };
}

const catalogDescription = closed('A catalog of the service.', {
  name: text('Name of the catalog in this API.'),
  release: text('Release of the catalog.'),
  catalog_source_id: closed('The meaning of `catalog_source_id`.', {
    column: text('The column from which it comes.'),
    description: text('The kind of thing that the id identifies.'),
  }),
  filterable_fields: list(
    ref('FilterableField'),
    'The quantities that match filters can limit: columns, quotients of columns, and the chance probability.',
  ),
  coverage_map: closed('The footprint that decides whether a position is searched.', {
    footprint_moc_order: orNull(
      integer('HEALPix order', "Order of the pixels in use here. The note says if it is not the catalog's own order.", {
        minimum: 0,
      }),
    ),
    resolution_arcmin: orNull(number('arcmin', 'Side of a pixel.', { exclusiveMinimum: 0 })),
    note: text('The consequence for the outcome of a search.'),
  }),
});

const named = (description: string): Schema =>
  closed(description, { name: text('The value.'), description: text('The meaning of the value.') });

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
    default_page_size: count('Default number of objects per page.'),
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
    budget_seconds: seconds(
      'Maximum time for the table to arrive; its crossmatch may take as long again, unless it becomes a job.',
    ),
  }),
  areas: closed('Limits of an area.', {
    max_bytes: bytes('Maximum size of the area as sent, bytes.'),
    max_unpacked_bytes: bytes('Maximum size of the area without gzip, bytes.'),
    max_cells: count('Cells of a MOC, or pixels of a probability map.'),
    max_polygon_vertices: count('Vertices of a polygon.'),
    max_objects_examined: count('Approximate maximum number of objects examined per page, if filters exclude some.'),
  }),
  streams: closed('Limits of the streams that follow an area.', {
    max_areas: count('Streams that follow an area.'),
    max_positions: count('Positions of a table.'),
    max_radius_arcsec: radius,
  }),
  sources: closed('Limits of a search for catalog sources.', {
    max_radius_arcsec: radius,
    default_limit: count('Default number of listed sources.'),
    max_limit: count('Maximum number of listed sources.'),
  }),
  jobs: closed('Limits of jobs: crossmatches of tables, and queries in ADQL.', {
    max_jobs: count('Stored jobs, including finished ones.'),
    max_jobs_per_client: count('Stored jobs of one client.'),
    max_bytes: bytes('Disk space for all jobs together.'),
    retention_hours: number('h', 'How long a job and its result are kept.', { exclusiveMinimum: 0 }),
    max_run_seconds: seconds('Run time of a job.'),
    max_wait_seconds: seconds('Maximum time for which a request for a job waits for another phase (`WAIT`).'),
  }),
  tap: closed('Limits of queries in ADQL.', {
    max_queries: count('Simultaneous queries; 0 if the service answers none.'),
    max_rows: count('Rows of an answer (`MAXREC`).'),
    max_query_seconds: seconds('Run time of a query that is not a job.'),
    max_uploads: count('Tables sent with a query.'),
    max_upload_bytes: bytes('Bytes of these tables together.'),
  }),
});

const genericFilter = closed('A filter that does not belong to one catalog.', {
  name: text('Name of the filter.'),
  kind: text(`The quantity that it limits: ${[...new Set(GENERIC_FILTERS.map(({ kind }) => kind))].join(', ')}.`),
  bound: orNull({
    type: 'string',
    enum: ['min', 'max'],
    description:
      'The limit that it sets, inclusive: `min` the lowest value, `max` the highest; null if it sets no limit.',
  }),
  unit: orNull(text('Unit of its value; null if it is not a number.')),
  is_match_filter: boolean('Whether it applies to sources; otherwise to the object itself.'),
  description: text('The effect of the filter.'),
});

const serviceDescription = closed('The live configuration of the service.', {
  provenance: ref('Provenance'),
  catalogs: list(ref('CatalogDescription'), 'The catalogs, in configured order.'),
  crossmatch: closed('The crossmatch.', {
    radius_arcsec: number('arcsec', 'Radius, inclusive.', { exclusiveMinimum: 0 }),
    nearest_source_per_catalog: always(true, 'Only the nearest source of each catalog is kept.'),
    description: text('The rule.'),
  }),
  tns: closed('Searches by registry name.', {
    default_radius_arcsec: number('arcsec', 'The default radius.', { exclusiveMinimum: 0 }),
    max_radius_arcsec: number('arcsec', 'The largest radius.', { exclusiveMinimum: 0 }),
  }),
  limits,
  detail_levels: list(named('A detail level.'), 'The detail levels, each adding to the one before.'),
  default_detail: text('The default detail level.'),
  response_modes: list(named('A response mode.'), 'The response modes.'),
  generic_filters: list(genericFilter, 'The filters that do not belong to one catalog.'),
  reliability_cuts: reliabilityCuts,
  provenance_recording_release: text('The release from which provenance is recorded per object.'),
  mcp: closed('The connector for chat assistants.', {
    path: text('Path, relative to the base address.'),
    method: text('HTTP method.'),
    transport: text('Transport of the protocol.'),
    authentication: text('The authentication that it requires.'),
    description: text('The purpose of the connector.'),
    tools: list(
      closed('A tool.', { name: text('Name of the tool.'), title: text('Title of the tool.') }),
      'The tools, in the order of `tools/list`.',
    ),
  }),
});
