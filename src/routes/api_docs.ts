/** GET /api-docs.md and GET /api-docs: the reference, as Markdown and as a page. */
import { apiDocs } from '../contract/docs/api_docs.ts';
import { toHtml, toMarkdown } from '../contract/docs/blocks.ts';
import { TITLE } from '../contract/prose.ts';
import { baseUrl } from '../http/base_url.ts';
import type { Handler } from '../http/exchange.ts';
import { textResponse } from '../http/respond.ts';
import type { Service } from '../service.ts';

export function markdownDocs({ config }: Service): Handler {
  return ({ request }) =>
    textResponse('text/markdown', toMarkdown(apiDocs(config, baseUrl(request))), {
      Link: '</llms.txt>; rel="describedby"',
    });
}

export function htmlDocs({ config }: Service): Handler {
  return ({ request }) => textResponse('text/html', toHtml(TITLE, apiDocs(config, baseUrl(request))));
}
