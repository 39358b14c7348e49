/**
 * A lease names the node that has a duty, when several nodes share one log. Leases are part of the archive: the last
 * node to take a lease in the log has it, and all earlier owners have lost it.
 */
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';

/** The name of the lease and of the claim for publishing matches to a topic. */
export const publishLease = (topic: string) => `publish to ${topic}`;

const stored = (name: string) => new MetaValue<string>(`lease ${name}`);

/** The owner of the last lease of that name. */
export const readLease = (databases: Databases, name: string) => stored(name).read(databases);

/** Call this in a write transaction. */
export const takeLease = (databases: Databases, name: string, owner: string) => stored(name).write(databases, owner);
