/** The documents that are made from the live configuration. */
import { toJson } from '@nearsky/astrotables/json';
import { memoized } from '../../core/base/memoized.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import type { Api } from '../../core/host.ts';
import { baseUrl, rootPath } from '../../core/http/base_url.ts';
import { sharedBody } from '../../core/http/compression.ts';
import type { Handler } from '../../core/http/exchange.ts';
import { jsonResponse, textResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { addressed } from './addressed.ts';
import { apiDocs } from './api_docs.ts';
import { toMarkdown } from './blocks.ts';
import { llmsTxt } from './llms_txt.ts';
import { openApiDocument } from './openapi_document.ts';

/** GET /openapi.json */
export function getOpenapi(service: Service, api: Api): Handler {
  const document = memoized((catalogs: Catalogs) =>
    sharedBody(Buffer.from(toJson(openApiDocument(api, service.config, catalogs)))),
  );
  return () => jsonResponse(200, document(service.catalogs));
}

/** GET /llms.txt */
export function getLlmsTxt(service: Service, api: Api): Handler {
  const { config } = service;
  const document = memoized((catalogs: Catalogs) => addressed(base => llmsTxt(api, config, base, catalogs)));
  return ({ request }) => textResponse('text/plain', document(service.catalogs)(baseUrl(request, config)));
}

/** GET /api-docs.md: the reference as Markdown. `pages` serves it as a page. */
export function markdownDocs(service: Service, api: Api): Handler {
  const { config } = service;
  const document = memoized((catalogs: Catalogs) =>
    addressed(base => toMarkdown(apiDocs(api, config, base, catalogs))),
  );
  return ({ request }) =>
    textResponse('text/markdown', document(service.catalogs)(baseUrl(request, config)), {
      Link: `<${rootPath(config)}/llms.txt>; rel="describedby"`,
    });
}
