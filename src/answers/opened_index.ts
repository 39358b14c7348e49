/** The generation that this thread searches: opened once, and let go of with the generation. */
import { openGeneration, type SkyIndex } from '@nearsky/sky-index';
import type { PublishedGeneration } from '../publish/tasks.ts';

const opened = new WeakMap<PublishedGeneration, SkyIndex>();

export function openedIndex(generation: PublishedGeneration): SkyIndex {
  let index = opened.get(generation);
  if (!index) opened.set(generation, (index = openGeneration(generation)));
  return index;
}
