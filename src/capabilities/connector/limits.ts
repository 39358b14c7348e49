import type { DescribedLimits } from '../../core/documents/limits.ts';
import { closed, count, maxRadius } from '../../core/documents/openapi/schema.ts';
import { connectorSettings } from './settings.ts';

export const limits: DescribedLimits = {
  rank: 30,
  schemas: {
    connector: closed('Limits of a call of the connector.', {
      max_identifiers: count('Identifiers per lookup.'),
      max_radius_arcsec: maxRadius,
      max_objects: count('Objects summarised in an answer.'),
    }),
  },
  of: config => {
    const { MCP_MAX_IDENTIFIERS, MCP_MAX_OBJECTS, API_MAX_CONE_RADIUS_ARCSEC } = connectorSettings.of(config);
    return {
      connector: {
        max_identifiers: MCP_MAX_IDENTIFIERS,
        max_radius_arcsec: API_MAX_CONE_RADIUS_ARCSEC,
        max_objects: MCP_MAX_OBJECTS,
      },
    };
  },
};
