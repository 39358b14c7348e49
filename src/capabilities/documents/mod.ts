/** The documents that are made from the live configuration: OpenAPI, llms.txt, and the reference in Markdown. */
import type { Capability } from '../../core/host.ts';

export const documents: Capability = {
  name: 'documents',
  needs: ['objects', 'recent'],
  serve: () => import('./serve.ts'),
};
