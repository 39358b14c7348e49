/** The tools: their descriptions for an assistant, and their functions (docs/contract.md, Connector). */
import type { SentObject } from '../base/json_reader.ts';
import type { Config } from '../config/config.ts';
import { LISTED_STATUSES } from '../contract/enums.ts';
import { named } from '../contract/kind.ts';
import type { McpTool, McpToolName } from '../contract/mcp_tools.ts';
import { DECLINATION, RIGHT_ASCENSION, radiusKind } from '../documents/kinds.ts';
import type { Service } from '../service/service.ts';
import { canQuery } from '../tap/tap.ts';
import { aboutService } from './about_service.ts';
import {
  AREA,
  argument,
  catalogName,
  circleOf,
  defaultRadiusArcsec,
  hoursKind,
  hoursOf,
  identifiersOf,
  listedStatus,
} from './arguments.ts';
import { DEFAULT_HOURS, LISTING_SCHEMA, listInArea, listRecent, searchNearPosition } from './listings.ts';
import { lookUpIdentifiers } from './lookup.ts';
import { MAX_QUERY_ROWS, QUERY, QUERY_EXAMPLE, QUERY_SCHEMA, queryArchive, tablesInWords } from './query_archive.ts';
import type { ToolRun } from './tool_context.ts';

interface Tool {
  describe(config: Config): string;
  /** JSON Schemas of the arguments; none by default. */
  properties?(config: Config): Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  /** Whether an argument that is not in `properties` is an error. The tools of the public service ignore others. */
  readonly refusesOthers?: boolean;
  /** JSON Schema of the answer. With it, the answer also contains `structuredContent`. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /**
   * Checks the arguments.
   * @throws ToolError
   */
  prepare(args: SentObject, service: Pick<Service, 'config' | 'catalogs'>): ToolRun;
}

const CAVEATS =
  'A coincident source is not a host association, and not_in_service or no_rubin_object does not mean that the survey has no such object.';

const TOOLS: Readonly<Record<McpToolName, Tool>> = {
  lookup_rubin_transients: {
    describe: ({ MCP_MAX_IDENTIFIERS, MCP_MAX_OBJECTS }) =>
      `Information about Rubin alert objects, and the catalog sources at their positions. Give up to ${MCP_MAX_IDENTIFIERS} ` +
      'diaObjectIds (as strings, because a JSON number would lose digits) or TNS names such as SN 2026abc. Each distinct one ' +
      `has one result. At most ${MCP_MAX_OBJECTS} objects are summarised; for more, the answer includes the API request for everything. ${CAVEATS}`,
    properties: ({ MCP_MAX_IDENTIFIERS }) => ({
      identifiers: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        maxItems: MCP_MAX_IDENTIFIERS,
        description: 'diaObjectIds in decimal digits, and TNS names with or without their prefix',
      },
    }),
    required: ['identifiers'],
    prepare: (args, { config }) => lookUpIdentifiers(identifiersOf(args, config)),
  },
  search_rubin_transients_near_position: {
    describe: ({ MCP_MAX_OBJECTS, API_MAX_CONE_RADIUS_ARCSEC }) =>
      `The Rubin alert objects within a radius, at most ${API_MAX_CONE_RADIUS_ARCSEC} arcsec, of a position (ICRS, degrees), the nearest ` +
      `first, each with the catalog sources at its own position. At most ${MCP_MAX_OBJECTS} objects are summarised; for more, the answer includes ` +
      `the API request for everything. ${CAVEATS}`,
    properties: config => ({
      ra_deg: { ...RIGHT_ASCENSION.schema, description: 'Right ascension, degrees' },
      dec_deg: { ...DECLINATION.schema, description: 'Declination, degrees' },
      radius_arcsec: {
        ...radiusKind(config).schema,
        default: defaultRadiusArcsec(config),
        description: 'Radius, arcsec',
      },
    }),
    required: ['ra_deg', 'dec_deg'],
    prepare: (args, { config }) => searchNearPosition(circleOf(args, config)),
  },
  describe_crossmatch_service: {
    describe: () =>
      'About this service: version, catalogs, crossmatch radius and rule, reliability cuts of the brokers, whether TNS names can be ' +
      'resolved now, when the latest alert came in, and what it does not answer.',
    prepare: () => aboutService,
  },
  list_rubin_transients_in_area: {
    describe: ({ MCP_MAX_OBJECTS }) =>
      'The Rubin alert objects in an area of any size: a circle, a polygon, or a MOC as text, ICRS, degrees. Returns their number, and summaries ' +
      `of at most ${MCP_MAX_OBJECTS}, with the API request for all of them. ${CAVEATS}`,
    properties: () => ({
      area: {
        ...AREA.schema,
        description: 'CIRCLE ra dec radius, POLYGON ra dec ra dec ra dec, or a MOC such as 5/1-3 6/20; degrees',
      },
    }),
    required: ['area'],
    outputSchema: LISTING_SCHEMA,
    refusesOthers: true,
    prepare: args => listInArea(argument(args, 'area', AREA)),
  },
  list_recent_rubin_transients: {
    describe: ({ MCP_MAX_OBJECTS }) =>
      `The Rubin alert objects that came in latest, with catalog sources or of another status, the newest first: at most ${MCP_MAX_OBJECTS} are summarised, with the API ` +
      `request for all of them. ${CAVEATS}`,
    properties: config => ({
      hours: {
        ...hoursKind(config).schema,
        default: Math.min(DEFAULT_HOURS, config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS),
        description: 'How far back to look, in hours of ingest time',
      },
      status: {
        ...named(LISTED_STATUSES).schema,
        default: 'coincident_sources',
        description: 'Only objects of this status',
      },
      catalog: { type: 'string', description: 'Only objects with a source in this catalog' },
    }),
    outputSchema: LISTING_SCHEMA,
    refusesOthers: true,
    prepare: (args, { config, catalogs }) => {
      const hours = hoursOf(args, config, DEFAULT_HOURS);
      const catalog = catalogName(
        args,
        catalogs.all.map(({ name }) => name),
      );
      return listRecent(hours, listedStatus(args), catalog);
    },
  },
  query_rubin_archive: {
    describe: () =>
      'The rows of a query in ADQL 2.1 (the SQL of astronomy, read only) over all stored data, for counts, statistics and conditions that no ' +
      `other tool offers. At most ${MAX_QUERY_ROWS} rows are returned; use TOP, aggregates and few columns. Tables: ${tablesInWords()}. The matches of each catalog are a table, ` +
      'such as nearsky.gaia_dr3_matches, with the columns of nearsky.matches and those of the catalog. All sources of a registered catalog are a table, too, such as ' +
      'gaia_dr3.sources; a query gives a CIRCLE around its position, or joins it by DISTANCE. SELECT column_name, unit, description FROM TAP_SCHEMA.columns ' +
      `WHERE table_name = 'nearsky.gaia_dr3_matches' lists columns. Positions are ICRS, degrees. An example: ${QUERY_EXAMPLE}. ${CAVEATS}`,
    properties: () => ({ query: { ...QUERY.schema, description: 'One SELECT in ADQL' } }),
    required: ['query'],
    outputSchema: QUERY_SCHEMA,
    refusesOthers: true,
    prepare: args => queryArchive(argument(args, 'query', QUERY)),
  },
};

const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The entries of `tools/list`; without the query tool if the service does not answer ADQL. */
export function listTools(config: Config, tools: readonly McpTool[]) {
  const listed = tools.filter(({ name }) => name !== 'query_rubin_archive' || canQuery(config));
  return listed.map(({ name, title }) => {
    const { describe, properties, required, outputSchema } = TOOLS[name];
    return {
      name,
      title,
      description: describe(config),
      inputSchema: { type: 'object', properties: properties?.(config) ?? {}, ...(required && { required }) },
      ...(outputSchema && { outputSchema }),
      annotations: ANNOTATIONS,
    };
  });
}

export function findTool(name: string, tools: readonly McpTool[]): Tool | undefined {
  const found = tools.find(tool => tool.name === name);
  return found && TOOLS[found.name];
}
