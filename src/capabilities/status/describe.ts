/**
 * Writes the service's description of itself (docs/contract.md, Status and descriptions). The keys have the order of
 * the JSON answer.
 */

import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { DEFAULT_DETAIL, DETAIL_LEVELS, type Named, RESPONSE_MODES } from '../../core/contract/enums.ts';
import { GENERIC_FILTERS } from '../../core/contract/filters.ts';
import { ARCHIVE_MCP_TOOLS, MCP_ARCHIVE_PATH, MCP_PATH, MCP_TOOLS } from '../../core/contract/mcp_tools.ts';
import type { Documented } from '../../core/documents/operations.ts';
import { howCompared, ownRadii } from '../../core/documents/prose.ts';
import { currentProvenance, PROVENANCE_RECORDING_RELEASE } from '../../core/store/provenance.ts';
import { catalogDescriptions } from './catalog_descriptions.ts';

export function serviceDescription({ limits }: Documented, config: Config, catalogs: Catalogs) {
  const provenance = currentProvenance(config, catalogs);
  return {
    provenance,
    catalogs: catalogDescriptions(catalogs),
    crossmatch: {
      radius_arcsec: config.CROSSMATCH_RADIUS_ARCSEC,
      nearest_source_per_catalog: true,
      description:
        'For each object and each catalog, only the nearest catalog source within the radius (inclusive) is kept. ' +
        `${howCompared(config, catalogs)}.${ownRadii(catalogs)}`,
    },
    tns: {
      default_radius_arcsec: config.TNS_MATCH_RADIUS_ARCSEC,
      max_radius_arcsec: config.API_MAX_CONE_RADIUS_ARCSEC,
    },
    limits: Object.assign({}, ...limits.map(({ of }) => of(config))),
    detail_levels: described(DETAIL_LEVELS),
    default_detail: DEFAULT_DETAIL,
    response_modes: described(RESPONSE_MODES),
    generic_filters: GENERIC_FILTERS.map(({ name, kind, bound, unit, isMatchFilter, description }) => ({
      name,
      kind,
      bound,
      unit,
      is_match_filter: isMatchFilter,
      description,
    })),
    reliability_cuts: provenance.reliability_cuts,
    provenance_recording_release: PROVENANCE_RECORDING_RELEASE,
    mcp: {
      path: MCP_PATH,
      method: 'POST',
      transport: 'streamable_http',
      authentication: 'none',
      description:
        'Read-only tools for chat assistants, over the Model Context Protocol; they answer from the same lookups as the API. ' +
        `At ${MCP_ARCHIVE_PATH} the connector has these and the tools of the archive: ${ARCHIVE_MCP_TOOLS.map(({ name }) => name).join(', ')}.`,
      tools: MCP_TOOLS,
    },
  };
}

function described(list: readonly Named[]) {
  return list.map(({ name, meaning }) => ({ name, description: meaning }));
}
