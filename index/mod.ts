/** The spatial core: which points lie near a position? Exact, in shared memory, without I/O. */
export { Arena, ConeHits } from './arena.ts';
export { buildArena, type PointColumns } from './builder.ts';
export { type Generation, mergeArenas, openGeneration } from './generation.ts';
export {
  conePixels,
  MAX_AREA_ORDER,
  MAX_ORDER,
  MAX_RADIUS_ARCSEC,
  pixel24,
  pixel29,
  pixelCentre,
  pixelCentre29,
  pixelEdges,
  pixelNeighbours,
  pixelOf,
} from './healpix.ts';
export { ArenaError } from './layout.ts';
export { type JoinResult, NO_MATCH, nearestJoin } from './nearest_join.ts';
export { type Nearest, SkyIndex } from './sky_index.ts';
export { isPosition, RADIANS_PER_ARCSEC, RADIANS_PER_DEGREE, separationArcsec, wrapRa } from './sphere.ts';
