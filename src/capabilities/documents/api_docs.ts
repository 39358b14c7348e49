/** The API reference for people: `/api-docs.md`, and `/api-docs` as HTML (docs/contract.md, Documents). */

import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { ERROR_CODES } from '../../core/contract/codes.ts';
import {
  CATALOG_OUTCOMES,
  DETAIL_LEVELS,
  INPUT_STATUSES,
  type Named,
  OBJECT_STATUSES,
  QUALIFIES_REASONS,
  RESPONSE_MODES,
} from '../../core/contract/enums.ts';
import { ARCHIVE_MCP_TOOLS, MCP_ARCHIVE_PATH, MCP_TOOLS } from '../../core/contract/mcp_tools.ts';
import { orderInForce, orderRemark, pixelArcmin, sourceIdMeaning } from '../../core/documents/catalogs.ts';
import type { Paths } from '../../core/documents/openapi/parameters.ts';
import { type Documented, paths, resourcePaths } from '../../core/documents/operations.ts';
import { caveats, decimal, ownRadii, reliabilityCuts } from '../../core/documents/prose.ts';
import { CONTRACT_VERSION } from '../../core/store/provenance.ts';
import { type Block, code, heading, list, paragraph, quote, table } from './blocks.ts';
import { type OpenApiDocument, openApiDocument } from './openapi_document.ts';
import { filterSection, operationSection } from './operations.ts';
import { conventions, limitSentences, SUMMARY, TITLE } from './prose.ts';

/** @param base scheme and host, without a trailing slash */
export function apiDocs(api: Documented, config: Config, base: string, catalogs: Catalogs): Block[] {
  const resources = resourcePaths(api, config, catalogs);
  const document = openApiDocument(api, config, catalogs);
  return [
    heading(1, TITLE),
    quote(SUMMARY),
    paragraph(
      `Service version ${config.APP_VERSION}, contract version ${CONTRACT_VERSION}. ` +
        `The same in machine-readable form: [openapi.json](${base}/openapi.json). The current settings: [describe](${base}/api/describe).`,
    ),
    code(`curl '${base}/api/cone?ra=61.6223&dec=-49.2951&radius_arcsec=10'`),
    heading(2, 'Conventions'),
    list(conventions(config, catalogs)),
    heading(2, 'What an answer does not mean'),
    list(caveats()),
    ...catalogSection(config, catalogs),
    heading(2, 'Limits'),
    list(limitSentences(config)),
    ...operations(2, document, paths(api, config, catalogs), catalogs),
    ...(Object.keys(resources).length > 0 ? [heading(2, 'Queries and jobs')] : []),
    ...(api.hasPages ? [paragraph('The operations of the Virtual Observatory: [TAP and UWS](/vo).')] : []),
    ...operations(3, document, resources, catalogs),
    ...filterSection(catalogs),
    ...valueSections(),
    heading(2, 'Errors'),
    paragraph(
      'Every operation can also answer 408, 431, 500, 501, 503 and 505, and every answer has the headers that `/openapi.json` lists.',
    ),
    paragraph(
      'An error is a JSON object with `error`, `code`, `message`, `param` or `params` if parameters caused it, and `retryable`.',
    ),
    table(
      ['Code', 'HTTP', 'Retryable', 'Meaning'],
      ERROR_CODES.map(({ name, status, retryable, meaning }) => [`\`${name}\``, `${status}`, `${retryable}`, meaning]),
    ),
    heading(2, 'Connector'),
    list([
      ...api.setup(config, base),
      ...MCP_TOOLS.map(({ name, title }) => `\`${name}\`: ${title}.`),
      ...[...ARCHIVE_MCP_TOOLS, ...api.tools].map(
        ({ name, title }) => `\`${name}\`: ${title} (\`${MCP_ARCHIVE_PATH}\` only).`,
      ),
    ]),
  ];
}

function operations(level: 2 | 3, document: OpenApiDocument, paths: Paths, catalogs: Catalogs): Block[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operationSection(level, document, method, path, operation, catalogs),
    ),
  );
}

function catalogSection(config: Config, catalogs: Catalogs): Block[] {
  return [
    heading(2, 'Catalogs'),
    paragraph(
      `Each is searched within ${decimal(config.CROSSMATCH_RADIUS_ARCSEC)} arcsec of an object.${ownRadii(catalogs)}`,
    ),
    table(
      ['Catalog', 'Release', 'What `catalog_source_id` is', 'Coverage map'],
      catalogs.all.map(catalog => [
        `\`${catalog.name}\``,
        catalog.release,
        sourceIdMeaning(catalog),
        [
          `HEALPix order ${orderInForce(catalog, catalogs)}, ${decimal(pixelArcmin(orderInForce(catalog, catalogs)))} arcmin.`,
          orderRemark(catalog, catalogs),
        ]
          .join(' ')
          .trimEnd(),
      ]),
    ),
    heading(2, 'Reliability cuts'),
    list(reliabilityCuts(config)),
  ];
}

const VALUES: readonly (readonly [string, readonly Named[]])[] = [
  ['Object status', OBJECT_STATUSES],
  ['Input status', INPUT_STATUSES],
  ['Catalog outcome', CATALOG_OUTCOMES],
  ['Qualifies reason', QUALIFIES_REASONS],
  ['Detail level', DETAIL_LEVELS],
  ['Response mode', RESPONSE_MODES],
];

function valueSections(): Block[] {
  return VALUES.flatMap(([title, values]) => [
    heading(2, title),
    table(
      ['Value', 'Meaning'],
      values.map(({ name, meaning }) => [`\`${name}\``, meaning]),
    ),
  ]);
}
