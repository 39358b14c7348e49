/** The tools: their descriptions for an assistant, and their functions (docs/contract.md, Connector). */

import type { MCP_TOOLS } from '../../core/contract/mcp_tools.ts';
import { DECLINATION, RIGHT_ASCENSION, radiusKind } from '../../core/documents/kinds.ts';
import type { NamedTool, Tool } from '../../core/http/tool.ts';
import { aboutService } from './about_service.ts';
import { DATA_NOTE } from './answer_text.ts';
import { circleOf, defaultRadiusArcsec, identifiersOf } from './arguments.ts';
import { searchNearPosition } from './listings.ts';
import { lookUpIdentifiers } from './lookup.ts';
import type { ConnectorConfig } from './settings.ts';

export type OfferedTool = NamedTool<ConnectorConfig>;

export type Tools<Name extends string> = Readonly<Record<Name, Tool<ConnectorConfig>>>;

/** The tools of a list of the contract, in its order. */
export function offered<Name extends string>(
  list: readonly { readonly name: Name; readonly title: string }[],
  tools: Tools<Name>,
): readonly OfferedTool[] {
  return list.map(({ name, title }) => ({ ...tools[name], name, title }));
}

export const CAVEATS =
  'A coincident source is not a host association, and not_in_service or no_rubin_object does not mean that the survey has no such object. ' +
  DATA_NOTE;

/** The tools of the contract. */
export const TOOLS: Tools<(typeof MCP_TOOLS)[number]['name']> = {
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
};

const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The entries of `tools/list`, without the tools that the service does not offer. */
export function listTools(config: ConnectorConfig, tools: readonly OfferedTool[]) {
  const listed = tools.filter(({ isOffered }) => isOffered?.(config) ?? true);
  return listed.map(({ name, title, describe, properties, required, outputSchema }) => {
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
