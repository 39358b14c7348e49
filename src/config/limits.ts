/** The request limits that settings control. */
import type { Config } from './config.ts';

/** The `limits` block of the service's description; keys as on the wire. */
export function limitsOf(config: Config) {
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
      max_window_hours: config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS,
    },
  };
}

/** The page size of a cone search whose request gives no `page_size`, in objects. */
export function defaultConePageSize(config: Config): number {
  return Math.min(config.API_MAX_OBJECTS_PER_POSITION, config.API_MAX_OBJECTS_PER_REQUEST);
}
