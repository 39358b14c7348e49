/** The chat connector's addresses, and the tools at each. */

export const MCP_PATH = '/mcp';
export const MCP_ARCHIVE_PATH = '/mcp/archive';

/** The tools of the contract, in the order of `tools/list`. */
export const MCP_TOOLS = [
  { name: 'lookup_rubin_transients', title: 'Look up Rubin transients' },
  { name: 'search_rubin_transients_near_position', title: 'Search Rubin transients near a position' },
  { name: 'describe_crossmatch_service', title: 'Describe the crossmatch service' },
] as const;

/** The tools of the archive, which follow the others. Their answers are structured, too. */
export const ARCHIVE_MCP_TOOLS = [
  { name: 'list_rubin_transients_in_area', title: 'List Rubin transients in an area' },
  { name: 'list_recent_rubin_transients', title: 'List recent Rubin transients' },
  { name: 'query_rubin_archive', title: 'Query the archive in ADQL' },
] as const;
