/** The chat connector. */
import { MCP_PATH, MCP_TOOLS } from '../../core/contract/mcp_tools.ts';
import type { Operations } from '../../core/host.ts';
import { mcp } from './mcp.ts';
import { offered, TOOLS } from './tools.ts';

export { limits } from './limits.ts';
export { setup } from './setup.ts';

export const operations: Operations = [
  { name: 'mcp', method: 'ANY', path: MCP_PATH, handler: service => mcp(service, offered(MCP_TOOLS, TOOLS)) },
];
