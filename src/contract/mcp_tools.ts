/** The chat connector's address, and its tools. */

export const MCP_PATH = '/mcp';

/** The tools of the contract, in the order of `tools/list`. */
export const MCP_TOOLS = [
  { name: 'lookup_rubin_transients', title: 'Look up Rubin transients' },
  { name: 'search_rubin_transients_near_position', title: 'Search Rubin transients near a position' },
  { name: 'describe_crossmatch_service', title: 'Describe the crossmatch service' },
] as const;

/** The tools that follow them, whose answers are structured, too. */
export const FURTHER_MCP_TOOLS = [
  { name: 'list_rubin_transients_in_area', title: 'List Rubin transients in an area' },
  { name: 'list_recent_rubin_transients', title: 'List recent Rubin transients with catalog sources' },
  { name: 'query_rubin_archive', title: 'Query the archive in ADQL' },
] as const;

export const ALL_MCP_TOOLS = [...MCP_TOOLS, ...FURTHER_MCP_TOOLS];

export type McpToolName = (typeof ALL_MCP_TOOLS)[number]['name'];
