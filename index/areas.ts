/** Areas of the sky: which points lie in a shape, a map or many discs? Which areas contain a position? */
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
export { Coverage } from './coverage.ts';
export { type DiscArrays, Discs, discArrays } from './discs.ts';
export { MergingPixels, mergedPixels, nestedOfRing } from './flat_map.ts';
export { boxCorners, circle, polygon, range } from './shapes.ts';
