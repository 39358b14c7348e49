import type { Config } from '../../core/config/config.ts';
import { ARCHIVE_MCP_TOOLS, MCP_ARCHIVE_PATH, MCP_TOOLS } from '../../core/contract/mcp_tools.ts';
import type { Operations } from '../../core/host.ts';
import { mcp } from '../connector/mcp.ts';
import { TOOLS as CONTRACT_TOOLS, offered } from '../connector/tools.ts';
import { TOOLS } from './tools.ts';

const tools = [...offered(MCP_TOOLS, CONTRACT_TOOLS), ...offered(ARCHIVE_MCP_TOOLS, TOOLS)];

export const operations: Operations = [
  {
    name: 'mcp_archive',
    method: 'ANY',
    path: MCP_ARCHIVE_PATH,
    handler: (service, api) => mcp(service, [...tools, ...api.tools]),
  },
];

export const setup = (_config: Config, base: string): readonly string[] => [
  `\`${base}${MCP_ARCHIVE_PATH}\` has these tools and those of the archive: the objects of an area, the latest objects, queries in ADQL.`,
];
