/**
 * A lease names the node that does some work for now, when several nodes share one log. Leases are part of the archive,
 * and expire by the time of the log, so that all nodes agree.
 */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';

export interface Lease {
  readonly owner: string;
  readonly untilUs: number;
}

/** The name of the lease and of the claim for publishing matches to a topic. */
export const publishLease = (topic: string) => `publish to ${topic}`;

const keyOf = (name: string) => new TextEncoder().encode(`lease ${name}`);

/** The last lease of that name, which may have expired. */
export function readLease({ meta }: Databases, name: string): Lease | undefined {
  const bytes = meta.get(keyOf(name));
  if (!bytes) return undefined;
  const [owner, untilUs] = decodePlain(bytes) as [string, number];
  return { owner, untilUs };
}

/**
 * To be called in a write transaction. The present owner may renew the lease; another may take it once it has expired.
 * @returns whether `owner` has it now
 */
export function takeLease(databases: Databases, name: string, { owner, untilUs }: Lease, nowUs: number): boolean {
  const held = readLease(databases, name);
  if (held && held.owner !== owner && held.untilUs > nowUs) return false;
  databases.meta.put(keyOf(name), encodePlain([owner, untilUs]));
  return true;
}
