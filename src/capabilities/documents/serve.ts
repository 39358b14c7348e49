import { staticResponses } from '../../core/documents/openapi/responses.ts';
import { open, text } from '../../core/documents/openapi/schema.ts';
import type { Operations } from '../../core/host.ts';
import { getLlmsTxt, getOpenapi, markdownDocs } from './documents.ts';

export const operations: Operations = [
  {
    name: 'get_openapi',
    method: 'GET',
    path: '/openapi.json',
    isSpecified: true,
    document: () => ({
      summary: 'This document.',
      description: 'An OpenAPI 3.1 document made from the live configuration. The unit of each number is in `x-unit`.',
      responses: staticResponses('The document.', {
        ...open('An OpenAPI document.', {
          openapi: text('Version of the OpenAPI specification.'),
          info: { type: 'object', description: 'Title, version and conventions.', additionalProperties: true },
          paths: { type: 'object', description: 'The operations.', additionalProperties: true },
        }),
        additionalProperties: true,
      }),
    }),
    isDiscovery: true,
    isWithoutObjects: true,
    handler: getOpenapi,
  },
  { name: 'llms_txt', method: 'GET', path: '/llms.txt', isWithoutObjects: true, handler: getLlmsTxt },
  { name: 'api_docs', method: 'GET', path: '/api-docs.md', isWithoutObjects: true, handler: markdownDocs },
];
