/** Searches a serialised Flatbush in place, without an object per tree or an allocation per search. */
import { NODE_SIZE } from './layout.ts';

// Pairs of (first box, end of level). A node has up to sixteen children, each of them a pair, and a tree over 15,000
// items has four levels.
const stack = new Int32Array(256);
const levelEnds = new Int32Array(8);

/**
 * Writes the numbers of all items whose box meets the box [minU, maxU] x [minV, maxV] (bounds inclusive) to `found`.
 *
 * The bytes are Flatbush's format version 3. After a header of 8 bytes come the boxes (minX, minY, maxX, maxY) of the
 * items, then the boxes of each level above, with the root last. Then for each box: the item's number, or four times
 * the position of the node's first child.
 *
 * @param minU int32, like the other bounds; may be beyond the range of uint16
 * @param words the trees
 * @param boxes the offset of the tree's boxes in `words`
 * @param items the number of items, at least 1
 * @returns the number of items found
 */
export function searchTree(
  words: Uint16Array,
  boxes: number,
  items: number,
  minU: number,
  minV: number,
  maxU: number,
  maxV: number,
  found: Int32Array,
): number {
  let nodes = items;
  let levels = 0;
  levelEnds[levels++] = nodes * 4;
  for (let level = items; level > NODE_SIZE; ) {
    level = (level + NODE_SIZE - 1) >> 4;
    nodes += level;
    levelEnds[levels++] = nodes * 4;
  }
  nodes++; // the root, whose box adds no information to its children's
  const indices = boxes + nodes * 4;
  let count = 0;
  let depth = 0;
  stack[depth++] = levels > 1 ? levelEnds[levels - 2]! : 0;
  stack[depth++] = levels - 1;
  while (depth > 0) {
    const level = stack[--depth]!;
    const first = stack[--depth]!;
    const levelEnd = levelEnds[level]!;
    const end = Math.min(first + NODE_SIZE * 4, levelEnd);
    for (let box = first; box < end; box += 4) {
      const at = boxes + box;
      // One branch for four comparisons, because no processor can predict their outcomes. Negative if any difference is
      // negative.
      if (((maxU - words[at]!) | (maxV - words[at + 1]!) | (words[at + 2]! - minU) | (words[at + 3]! - minV)) < 0)
        continue;
      const index = words[indices + (box >> 2)]!;
      if (level === 0) {
        found[count++] = index;
      } else {
        stack[depth++] = index;
        stack[depth++] = level - 1;
      }
    }
  }
  return count;
}
