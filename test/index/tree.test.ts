import Flatbush from 'flatbush';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TREE_HEADER_BYTES, treeBytes } from '../../index/layout.ts';
import { searchTree } from '../../index/tree.ts';
import { seededRandom } from '../oracle/skies.ts';

const test = suite('tree');
const found = new Int32Array(16384);

test('searching the bytes of a Flatbush finds what Flatbush finds', () => {
  const random = seededRandom(1);
  for (const items of [1, 2, 15, 16, 17, 32, 255, 256, 257, 4097, 15000]) {
    const tree = new Flatbush(items, 16, Uint16Array);
    for (let i = 0; i < items; i++) {
      const x = random() * 65000;
      const y = random() * 65000;
      tree.add(x, y, x + random() * 300, y + random() * 300);
    }
    tree.finish();
    assert.is(treeBytes(items), Math.ceil(tree.data.byteLength / 8) * 8);
    const words = new Uint16Array(tree.data);
    for (let i = 0; i < 200; i++) {
      const x = Math.floor(random() * 70000 - 2000);
      const y = Math.floor(random() * 70000 - 2000);
      const size = Math.floor(10 ** (random() * 5));
      const count = searchTree(words, TREE_HEADER_BYTES / 2, items, x, y, x + size, y + size, found);
      const expected = tree.search(x, y, x + size, y + size).sort((a, b) => a - b);
      assert.equal(
        Array.from(found.subarray(0, count)).sort((a, b) => a - b),
        expected,
      );
    }
  }
});

test.run();
