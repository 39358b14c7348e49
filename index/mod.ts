/** The spatial core: which points lie near a position, or in an area? Exact, in shared memory, without I/O. */
export {
  Area,
  type AreaArrays,
  areaOfProbability,
  areaOfRanges,
  areaOfShape,
  type ProbabilityPixels,
  type Shape,
  touchedPixels,
} from './area.ts';
export { AreaIndex, type Region } from './area_index.ts';
export { type AreaPlace, type AreaRow, countArea, isPlaceIn, walkArea } from './area_walk.ts';
export { Arena, ConeHits } from './arena.ts';
export { buildArena, type PointColumns } from './builder.ts';
export { Coverage } from './coverage.ts';
export { type DiscArrays, Discs, discArrays } from './discs.ts';
export { MergingPixels, mergedPixels, nestedOfRing } from './flat_map.ts';
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
export { type MovingStar, movedStar } from './motion.ts';
export { type JoinResult, NO_MATCH, nearestJoin } from './nearest_join.ts';
export { boxCorners, circle, polygon, range } from './shapes.ts';
export { type Nearest, SkyIndex } from './sky_index.ts';
export { isPosition, RADIANS_PER_ARCSEC, RADIANS_PER_DEGREE, separationArcsec, wrapRa } from './sphere.ts';
