/**
 * What tests of the core ask of each capability that is there. A capability that has such facts exports them as `facts`
 * from `facts.ts` among its tests, so that the tests of the core name none.
 */
import { existsSync } from 'node:fs';
import { CAPABILITIES } from '../../src/capabilities.ts';
import type { Settings } from '../capabilities.ts';

/** A request. With a body it is sent by POST: a string as it is, anything else as JSON. */
export interface Asked {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Facts {
  /** The paths of resources in the OpenAPI document, in its order. */
  readonly resources?: readonly string[];
  /** The parameters in the OpenAPI document, by method and path. */
  readonly parameters?: (filters: readonly string[]) => Readonly<Record<string, readonly string[]>>;
  /** Further strings in enumerations and constants of the OpenAPI document. */
  readonly emitted?: string;
  /** The values of its limits in the description of the service, by key, with the default settings. */
  readonly limits?: Readonly<Record<string, readonly unknown[]>>;
  /** Settings, and some values of its limits with them. */
  readonly configured?: { readonly settings: Settings; readonly limits: Readonly<Record<string, object>> };
  /** Strings in `llms.txt`, with the host nearsky.test. */
  readonly named?: readonly string[];
  /** Paths of documents that send their readers to the address of the service. */
  readonly addressed?: readonly string[];
  /** A request of every operation, page and document. */
  readonly requests?: readonly Asked[];
  /** Paths of its services in VOSI's list of capabilities. */
  readonly vosi?: readonly string[];
  /** Paths of operations that have DELETE. */
  readonly deletable?: readonly string[];
  /** GET requests whose answers depend on the objects. */
  readonly ofObjects?: readonly string[];
  /** GET requests that are answered from the database. */
  readonly fromDatabase?: readonly string[];
  /** A command that reads a data directory, its arguments for a directory of results, and a check of these. */
  readonly reader?: {
    readonly args: (results: string) => readonly [string, ...string[]];
    readonly check: (results: string, dataDir: string) => Promise<void>;
  };
  /** GET requests that a node answers while it is behind the log. */
  readonly withoutObjects?: readonly string[];
  /** Requests that refuse filters and counts. */
  readonly unfiltered?: readonly (readonly [method: string, path: string])[];
  /** Requests about objects near (150, 2), and about sources of `gaia_dr3` there. */
  readonly places?: readonly Asked[];
  /** Requests with cursors for objects at (150, 2) of 2026-09-21: for all of them, or those that are pending. */
  readonly walks?: readonly (Asked & { readonly isPending?: true })[];
  /** Searches near (10, 0) whose answers depend on the state, for the number of a round. */
  readonly searches?: (round: number) => readonly (Asked & { readonly isWalk?: true })[];
  /** Requests about an object at (150, 2) and source 5 of `gaia_dr3`, with its separation at the epoch of the object. */
  readonly epochs?: readonly { readonly path: string; readonly epoch: (arcsec: number) => RegExp }[];
  /** Lists the objects within 10 arcsec of (150, 2), or those everywhere. */
  readonly found?: Asked & { readonly isEverywhere?: true };
}

/** In the order of the capabilities. */
export const FACTS: readonly Facts[] = await Promise.all(
  CAPABILITIES.map(({ name }) => new URL(`../capabilities/${name}/facts.ts`, import.meta.url))
    .filter(file => existsSync(file))
    .map(async file => (await import(file.href)).facts as Facts),
);
