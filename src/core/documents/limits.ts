/** The limits of requests that the description of the service states, with their schemas: a sum over the capabilities. */
import type { Config } from '../config/config.ts';
import { jobLimits, requestLimits } from '../config/described_limits.ts';
import { bytes, closed, count, number, type Schemas, seconds } from './openapi/schema.ts';

/** Entries of the object `limits`. */
export interface DescribedLimits {
  /** Entries of a lower rank come first. Those of the core have 0, and its jobs 80. */
  readonly rank: number;
  /** By key. */
  readonly schemas: Schemas;
  /** The values, with the same keys. */
  readonly of: (config: Config) => Readonly<Record<string, unknown>>;
}

const CORE_LIMITS: readonly DescribedLimits[] = [
  {
    rank: 0,
    schemas: {
      request_budget_seconds: seconds('Time budget.'),
      max_ids: count('Identifiers per lookup.'),
      max_positions: count('Positions and registry names per lookup, together.'),
      max_cone_radius_arcsec: number('arcsec', 'The largest radius of a search.', { exclusiveMinimum: 0 }),
      max_objects_per_position: count('Objects listed per position or registry name; default size of a cone page.'),
      max_objects_per_request: count('Objects listed per lookup; the largest cone page.'),
      recent_crossmatches: closed('Limits of the walk over recent crossmatches.', {
        default_page_size: count('Default number of objects per page.'),
        max_page_size: count('The largest page.'),
        default_window_hours: number('h', 'Length of the window without `start`.', { exclusiveMinimum: 0 }),
        max_window_hours: number('h', 'The longest window, inclusive.', { exclusiveMinimum: 0 }),
      }),
      names: closed('Limits of registry names.', { max_characters: count('Characters of a name.') }),
    },
    of: requestLimits,
  },
  {
    rank: 80,
    schemas: {
      jobs: closed('Limits of jobs: crossmatches of tables, and queries in ADQL.', {
        max_jobs: count('Stored jobs, including finished ones.'),
        max_jobs_per_client: count('Stored jobs of one client.'),
        max_bytes: bytes('Disk space for all jobs together.'),
        retention_hours: number('h', 'How long a job and its result are kept.', { exclusiveMinimum: 0 }),
        max_run_seconds: seconds('Run time of a job.'),
        max_wait_seconds: seconds('Maximum time for which a request for a job waits for another phase (`WAIT`).'),
      }),
    },
    of: config => ({ jobs: jobLimits(config) }),
  },
];

/** All limits, in the order in which they are stated. */
export function allLimits(capabilities: readonly DescribedLimits[]): readonly DescribedLimits[] {
  return [...CORE_LIMITS, ...capabilities].toSorted((a, b) => a.rank - b.rank);
}
