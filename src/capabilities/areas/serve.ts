/** The objects in an area of the sky. */

import {
  AREA_BODY,
  AREA_PATH,
  MAX_AREA_BYTES,
  MAX_AREA_CELLS,
  MAX_POLYGON_VERTICES,
  MAX_UNPACKED_AREA_BYTES,
} from '../../core/contract/limits.ts';
import { documentedParameters } from '../../core/documents/openapi/parameters.ts';
import { stated, tableResponses } from '../../core/documents/openapi/responses.ts';
import type { BodyLimits, Operations } from '../../core/host.ts';
import { areaSchema, LEFT_OUT } from '../listing/schemas.ts';
import { areaBody } from './area_body.ts';
import { areaParameters, searchArea } from './search_area.ts';

export { limits } from './limits.ts';

export const operations: Operations = [
  {
    name: 'search_area',
    method: 'POST',
    path: AREA_PATH,
    document: (config, catalogs) => ({
      summary:
        'The objects in an area of the sky, page by page or as one table, or their number; or the outline of the area.',
      description:
        'The area is the body, whatever its Content-Type, or the parameter `area`: a MOC (FITS, JSON or ASCII), `CIRCLE ra dec radius`, `POLYGON ra dec ra dec ...`, `BOX ra dec width height` ' +
        'or `RANGE ra1 ra2 dec1 dec2` in degrees (DALI, ADQL; a polygon means the smaller of its two sides; the text may begin with a frame: ICRS, FK5, GALACTIC), or a HEALPix probability map (FITS: multi-order ' +
        'with UNIQ and PROBDENSITY, as published by LIGO, Virgo and KAGRA, or with one NSIDE, RING or NESTED). The area of a map consists of its densest pixels, up to `level`. ' +
        `Gzip is allowed. At most ${MAX_AREA_BYTES} bytes, ${MAX_UNPACKED_AREA_BYTES} without gzip (more for a map with one NSIDE), ${MAX_AREA_CELLS} cells or pixels, ${MAX_POLYGON_VERTICES} vertices. ` +
        'Objects are in the order of credible level (for a map), HEALPix pixel of order 16 (NESTED), and identifier. For the next page, send the same ' +
        `request with \`cursor\`. With \`response=table\` the answer is a table of all objects, in a table format. It is sent while it is written: if the connection ends ` +
        `early, the table is incomplete. ${LEFT_OUT}`,
      parameters: documentedParameters(areaParameters(config), catalogs),
      requestBody: areaBody('An area in any of these forms.'),
      responses: stated(
        tableResponses(
          'One page, all objects as a table, a count, or an outline.',
          areaSchema,
          'unsupported_parameter',
        ),
      ),
    }),
    handler: searchArea,
  },
];

export const bodies = (): readonly BodyLimits[] => [{ path: AREA_PATH, ...AREA_BODY }];
