/** Schemas of the service's information about itself. */
import { DATABASE_STATES, RESOLUTION_STATES } from '../../core/contract/enums.ts';
import { GENERIC_FILTERS } from '../../core/contract/filters.ts';
import type { DescribedLimits } from '../../core/documents/limits.ts';
import {
  always,
  boolean,
  closed,
  integer,
  list,
  number,
  oneOfNames,
  orNull,
  ref,
  type Schema,
  text,
  time,
} from '../../core/documents/openapi/schema.ts';
import type { Documented } from '../../core/documents/operations.ts';
import { contractVersion, ownRadius, reliabilityCuts, serviceVersion } from '../objects/common_schemas.ts';

export function serviceSchemas({ limits }: Documented) {
  return {
    ServiceStatus: closed('Whether the service can answer now.', {
      provenance: ref('Provenance'),
      database: oneOfNames(DATABASE_STATES, 'State of the database.'),
      service_version: serviceVersion,
      contract_version: contractVersion,
      tns_resolution: oneOfNames(RESOLUTION_STATES, 'Whether registry names can be resolved.'),
      tns_snapshot_epoch: orNull(time('Epoch of the registry snapshot; null if names cannot be resolved.')),
    }),
    FilterableField: closed('A property of the catalog that match filters can limit.', {
      name: text('Its name, lowercased.'),
      unit: text('The unit of the quantity and of its filters.'),
      description: text('Its meaning.'),
      column: orNull(text("The column in the catalog's own case; null for a quotient.")),
      derived_from: orNull(
        closed('The two properties that are divided; null for a column.', {
          numerator: text('The dividend.'),
          denominator: text('The divisor.'),
        }),
      ),
      parameters: list({ type: 'string' }, 'Names of the two filters: minimum, maximum.', {
        minItems: 2,
        maxItems: 2,
      }),
    }),
    CatalogDescription: catalogDescription,
    ServiceDescription: serviceDescription(limits),
  };
}

const catalogDescription = closed(
  'A catalog of the service.',
  {
    name: text('Name of the catalog in this API.'),
    release: text('Release of the catalog.'),
    ...ownRadius,
    catalog_source_id: closed('The meaning of `catalog_source_id`.', {
      column: text('The column from which it comes.'),
      description: text('The kind of thing that the id identifies.'),
    }),
    filterable_fields: list(
      ref('FilterableField'),
      'The properties that match filters can limit: columns, and quotients of columns.',
    ),
    coverage_map: closed('The footprint that decides whether a position is searched.', {
      footprint_moc_order: orNull(
        integer(
          'HEALPix order',
          "Order of the pixels in use here. The note says if it is not the catalog's own order.",
          {
            minimum: 0,
          },
        ),
      ),
      resolution_arcmin: orNull(number('arcmin', 'Side of a pixel.', { exclusiveMinimum: 0 })),
      note: text('The consequence for the outcome of a search.'),
    }),
  },
  ['radius_arcsec', 'radius_column'],
);

const named = (description: string): Schema =>
  closed(description, { name: text('The value.'), description: text('The meaning of the value.') });

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

const serviceDescription = (limits: readonly DescribedLimits[]) =>
  closed('The live configuration of the service.', {
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
    limits: closed('Limits of a request.', Object.assign({}, ...limits.map(({ schemas }) => schemas))),
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
