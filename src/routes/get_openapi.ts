/** GET /openapi.json */
import { toJson } from '../../workers/json.ts';
import { openApiDocument } from '../contract/openapi/document.ts';
import type { Handler } from '../http/exchange.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service.ts';

export function getOpenapi({ config }: Service): Handler {
  return () => jsonResponse(200, toJson(openApiDocument(config)));
}
