/** The body of requests with an area, in the document. */

import { ANY_BYTES, contentIn } from '../../core/documents/openapi/responses.ts';
import { text } from '../../core/documents/openapi/schema.ts';

/** @param description the description of a body that may have any type */
export const areaBody = (description: string) => ({
  required: false,
  content: {
    ...contentIn([ANY_BYTES], description),
    ...contentIn([{ mediaType: 'application/fits' }], 'A MOC, or a probability map.'),
    'application/json': {
      schema: { type: 'object', description: 'A MOC: lists of cells by order.', additionalProperties: true },
    },
    'text/plain': { schema: text('CIRCLE, POLYGON, BOX, RANGE, or a MOC such as `3/1-5 7`.') },
  },
});
