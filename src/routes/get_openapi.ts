/** GET /openapi.json */

import { toJson } from '@nearsky/astrotables/json';
import { memoized } from '../base/memoized.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { openApiDocument } from '../documents/openapi/document.ts';
import type { Handler } from '../http/exchange.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function getOpenapi(service: Service): Handler {
  const document = memoized((catalogs: Catalogs) => toJson(openApiDocument(service.config, catalogs)));
  return () => jsonResponse(200, document(service.catalogs));
}
