import type { Config } from '../../core/config/config.ts';
import { MCP_PATH } from '../../core/contract/mcp_tools.ts';
import { decimal } from '../../core/documents/prose.ts';
import { connectorSettings } from './settings.ts';

export function setup(config: Config, base: string): readonly string[] {
  const { MCP_MAX_IDENTIFIERS, MCP_MAX_OBJECTS, API_MAX_CONE_RADIUS_ARCSEC } = connectorSettings.of(config);
  return [
    `Add \`${base}${MCP_PATH}\` as a remote MCP server (streamable HTTP, POST) to a chat assistant. No authentication is needed.`,
    `The tools are read-only and answer from the same lookups as the API: up to ${MCP_MAX_IDENTIFIERS} identifiers a lookup, ` +
      `a radius of at most ${decimal(API_MAX_CONE_RADIUS_ARCSEC)} arcsec, and a summary of at most ${MCP_MAX_OBJECTS} ` +
      'objects an answer; a larger result comes with the API request for all of it.',
  ];
}
