/**
 * A lease names the node that has a duty, when several nodes share one log. Leases are part of the archive: the last
 * node to take a lease in the log has it, and all earlier owners have lost it. Earlier releases took leases for some
 * seconds, in the time of the log, and renewed them.
 */
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';

export interface Lease {
  readonly owner: string;
  /** Until when no other owner may take it. */
  readonly untilUs: number;
}

/** The name of the lease and of the claim for publishing matches to a topic. */
export const publishLease = (topic: string) => `publish to ${topic}`;

const stored = (name: string) => new MetaValue<readonly [owner: string, untilUs: number]>(`lease ${name}`);

/** The last lease of that name. */
export function readLease(databases: Databases, name: string): Lease | undefined {
  const lease = stored(name).read(databases);
  return lease && { owner: lease[0], untilUs: lease[1] };
}

/**
 * Call this in a write transaction.
 * @returns whether `owner` has the lease now
 */
export function takeLease(databases: Databases, name: string, { owner, untilUs }: Lease, nowUs: number): boolean {
  const held = readLease(databases, name);
  if (held && held.owner !== owner && held.untilUs > nowUs) return false;
  stored(name).write(databases, [owner, untilUs]);
  return true;
}
