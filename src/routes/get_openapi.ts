/** GET /openapi.json */
import { toJson } from '../base/json_text.ts';
import { openApiDocument } from '../documents/openapi/document.ts';
import type { Handler } from '../http/exchange.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function getOpenapi(service: Service): Handler {
  return () => jsonResponse(200, toJson(openApiDocument(service.config, service.catalogs)));
}
