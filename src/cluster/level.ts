/** Raises the level of the log, so that nodes may write the features of newer releases from then on. */
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store_error.ts';
import type { Writer } from '../store/writer.ts';

/**
 * Raises the level of the log to the highest that this release reads, unless it is already there.
 * @throws StoreError if a node that has voted recently cannot read that level; the level is then unchanged
 */
export async function raiseLevel(store: Store, writer: Writer): Promise<void> {
  store.resetRead();
  const { readableLevel } = store;
  if (store.logLevel() >= readableLevel) return;
  const behind = store.nodes().filter(({ level }) => level < readableLevel);
  if (behind.length > 0) {
    const nodes = behind.map(({ node, level }) => `${node} (up to ${level})`).join(', ');
    throw new StoreError(
      `Cannot raise the level of the log to ${readableLevel} because nodes that voted within the last five minutes cannot read it: ${nodes}. Upgrade these first. A node that is gone for good is ignored after that time`,
    );
  }
  await writer.raiseLevel(readableLevel);
}
