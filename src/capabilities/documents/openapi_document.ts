/** Makes the service's OpenAPI document from the live configuration (docs/contract.md, Status and descriptions). */

import type { Config } from '../../core/config/config.ts';
import { type Catalogs, PROJECT_CATALOGS } from '../../core/contract/catalogs.ts';
import { type Documented, paths, resourcePaths } from '../../core/documents/operations.ts';
import { caveats } from '../../core/documents/prose.ts';
import { CONTRACT_VERSION } from '../../core/store/provenance.ts';
import { commonSchemas } from '../objects/common_schemas.ts';
import { lookupSchemas } from '../objects/lookup_schemas.ts';
import { objectSchemas } from '../objects/object_schemas.ts';
import { recentSchemas } from '../recent/schemas.ts';
import { generalComponents, withGeneralParts } from './general_parts.ts';
import { conventions, SUMMARY, TITLE } from './prose.ts';
import { serviceSchemas } from './service_schemas.ts';

export type OpenApiDocument = ReturnType<typeof openApiDocument>;
export type ComponentName = keyof OpenApiDocument['components']['schemas'];

export function openApiDocument(api: Documented, config: Config, catalogs = PROJECT_CATALOGS) {
  const all = withGeneralParts({ ...paths(api, config, catalogs), ...resourcePaths(api, config, catalogs) });
  return {
    openapi: '3.1.0',
    info: { title: TITLE, version: CONTRACT_VERSION, description: description(config, catalogs) },
    paths: all,
    components: {
      schemas: {
        ...commonSchemas(config, catalogs),
        ...objectSchemas(catalogs),
        ...lookupSchemas(config, catalogs),
        ...recentSchemas(),
        ...serviceSchemas(api),
        ...(api.schemas as object),
      },
      ...generalComponents(all),
    },
  };
}

function description(config: Config, catalogs: Catalogs): string {
  const paragraphs = [
    SUMMARY,
    `Service version ${config.APP_VERSION}, contract version ${CONTRACT_VERSION}.`,
    ...conventions(config, catalogs),
    ...caveats(),
  ];
  return paragraphs.join('\n\n');
}
