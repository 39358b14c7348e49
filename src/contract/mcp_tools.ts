/** The chat connector's address, and its tools in the order of `tools/list`. */

export const MCP_PATH = '/mcp';

export const MCP_TOOLS = [
  { name: 'lookup_rubin_transients', title: 'Look up Rubin transients' },
  { name: 'search_rubin_transients_near_position', title: 'Search Rubin transients near a position' },
  { name: 'describe_crossmatch_service', title: 'Describe the crossmatch service' },
] as const;

export type McpToolName = (typeof MCP_TOOLS)[number]['name'];
