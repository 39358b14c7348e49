import {
  MAX_AREA_BYTES,
  MAX_AREA_CELLS,
  MAX_LOOKED_AT,
  MAX_POLYGON_VERTICES,
  MAX_UNPACKED_AREA_BYTES,
} from '../../core/contract/limits.ts';
import type { DescribedLimits } from '../../core/documents/limits.ts';
import { bytes, closed, count } from '../../core/documents/openapi/schema.ts';

export const limits: DescribedLimits = {
  rank: 50,
  schemas: {
    areas: closed('Limits of an area.', {
      max_bytes: bytes('Maximum size of the area as sent, bytes.'),
      max_unpacked_bytes: bytes('Maximum size of the area without gzip, bytes.'),
      max_cells: count('Cells of a MOC, or pixels of a probability map.'),
      max_polygon_vertices: count('Vertices of a polygon.'),
      max_objects_examined: count('Approximate maximum number of objects examined per page, if filters exclude some.'),
    }),
  },
  of: () => ({
    areas: {
      max_bytes: MAX_AREA_BYTES,
      max_unpacked_bytes: MAX_UNPACKED_AREA_BYTES,
      max_cells: MAX_AREA_CELLS,
      max_polygon_vertices: MAX_POLYGON_VERTICES,
      max_objects_examined: MAX_LOOKED_AT,
    },
  }),
};
