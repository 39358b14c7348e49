/** GET /llms.txt */
import { llmsTxt } from '../documents/docs/llms_txt.ts';
import { baseUrl } from '../http/base_url.ts';
import type { Handler } from '../http/exchange.ts';
import { textResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function getLlmsTxt(service: Service): Handler {
  const { config } = service;
  return ({ request }) => textResponse('text/plain', llmsTxt(config, baseUrl(request, config), service.catalogs));
}
