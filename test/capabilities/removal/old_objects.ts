/** Objects of which NEARSKY_RETENTION_DAYS=30 removes all but two. */
import type { Writer } from '../../../src/core/store/writer.ts';
import { delivery } from '../../core/store/support.ts';

export const DAY_US = 86_400_000_000;
export const NEWEST_US = 1_790_000_000_000_000;
export const OLD = 1200;

/**
 * 1200 old objects, then one on the limit of 30 days, then one new object. They are imported, because a log never goes
 * back in time.
 */
export async function fill(writer: Writer): Promise<void> {
  await writer.import([
    ...Array.from({ length: OLD }, (_, i) => object(BigInt(i), NEWEST_US - 30 * DAY_US - 1)),
    object(2000n, NEWEST_US - 30 * DAY_US),
    object(2001n, NEWEST_US),
  ]);
}

export function object(diaObjectId: bigint, ingestTimeUs: number) {
  const { diaObjectId: _, broker, ...fields } = delivery(diaObjectId);
  const stored = { ...fields, ingestTimeUs, state: 'pending', brokers: [broker] } as const;
  return { kind: 'object', diaObjectId, object: stored } as const;
}
