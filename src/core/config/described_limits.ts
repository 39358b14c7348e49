/** The limits of requests that the description of the service states, as far as settings of the core control them. */
import { memoized } from '../base/memoized.ts';
import { DEFAULT_WINDOW_HOURS, MAX_JOB_WAIT_SECONDS, MAX_TNS_NAME_CHARACTERS } from '../contract/limits.ts';
import type { Config } from './config.ts';

/** With the keys of the API. */
export const requestLimits = memoized((config: Config) => {
  return {
    request_budget_seconds: config.API_REQUEST_BUDGET_SECONDS,
    max_ids: config.API_MAX_IDS,
    max_positions: config.API_MAX_POSITIONS,
    max_cone_radius_arcsec: config.API_MAX_CONE_RADIUS_ARCSEC,
    max_objects_per_position: config.API_MAX_OBJECTS_PER_POSITION,
    max_objects_per_request: config.API_MAX_OBJECTS_PER_REQUEST,
    recent_crossmatches: {
      default_page_size: config.RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE,
      max_page_size: config.RECENT_CROSSMATCH_MAX_PAGE_SIZE,
      default_window_hours: DEFAULT_WINDOW_HOURS,
      max_window_hours: config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS,
    },
    names: { max_characters: MAX_TNS_NAME_CHARACTERS },
  };
});

/** With the keys of the API. */
export function jobLimits(config: Config) {
  return {
    max_jobs: config.JOBS_MAX,
    max_jobs_per_client: Math.min(config.JOBS_MAX, config.JOBS_MAX_PER_CLIENT),
    max_bytes: config.JOBS_MAX_MIB * 2 ** 20,
    retention_hours: config.JOBS_HOURS,
    max_run_seconds: config.JOBS_SECONDS,
    max_wait_seconds: MAX_JOB_WAIT_SECONDS,
  };
}

/** The page size of a cone search without `page_size`, in objects. */
export function defaultConePageSize(config: Config): number {
  return Math.min(config.API_MAX_OBJECTS_PER_POSITION, config.API_MAX_OBJECTS_PER_REQUEST);
}
