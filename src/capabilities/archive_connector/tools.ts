/** The tools of the archive: their descriptions for an assistant, and their functions (docs/contract.md, Connector). */
import { LISTED_STATUSES } from '../../core/contract/enums.ts';
import { named } from '../../core/contract/kind.ts';
import type { ARCHIVE_MCP_TOOLS } from '../../core/contract/mcp_tools.ts';
import { canQuery } from '../adql/tap.ts';
import { AREA, argument, catalogName, hoursKind, hoursOf, listedStatus } from '../connector/arguments.ts';
import { CAVEATS, type Tools } from '../connector/tools.ts';
import { DEFAULT_HOURS, LISTING_SCHEMA, listInArea, listRecent } from './listings.ts';
import { MAX_QUERY_ROWS, QUERY, QUERY_EXAMPLE, QUERY_SCHEMA, queryArchive, tablesInWords } from './query_archive.ts';

export const TOOLS: Tools<(typeof ARCHIVE_MCP_TOOLS)[number]['name']> = {
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
    isOffered: canQuery,
    outputSchema: QUERY_SCHEMA,
    refusesOthers: true,
    prepare: args => queryArchive(argument(args, 'query', QUERY)),
  },
};
