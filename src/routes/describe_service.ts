/** GET /api/describe: the live configuration; needs no database. */
import { toJson } from '@nearsky/astrotables/json';
import { serviceDescription } from '../documents/describe.ts';
import type { Handler } from '../http/exchange.ts';
import { jsonResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';

export function describeService(service: Service): Handler {
  return () => jsonResponse(200, toJson(serviceDescription(service.config, service.catalogs)));
}
