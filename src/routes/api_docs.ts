/** GET /api-docs.md: the reference as Markdown; `routes/pages.ts` has it as a page. */
import { apiDocs } from '../documents/docs/api_docs.ts';
import { toMarkdown } from '../documents/docs/blocks.ts';
import { baseUrl } from '../http/base_url.ts';
import type { Handler } from '../http/exchange.ts';
import { textResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function markdownDocs(service: Service): Handler {
  const { config } = service;
  return ({ request }) =>
    textResponse('text/markdown', toMarkdown(apiDocs(config, baseUrl(request, config), service.catalogs)), {
      Link: '</llms.txt>; rel="describedby"',
    });
}
