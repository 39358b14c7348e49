/** The limits of requests: those that settings control, and the fixed ones of tables, areas, sources, jobs and queries. */
import { MAX_COLUMNS, MAX_ROW_BYTES } from '@nearsky/astrotables';
import { memoized } from '../base/memoized.ts';
import {
  DEFAULT_SOURCES_LIMIT,
  MAX_AREA_BYTES,
  MAX_AREA_CELLS,
  MAX_FOLLOWED_POSITIONS,
  MAX_FOLLOWED_RADIUS_ARCSEC,
  MAX_JOB_WAIT_SECONDS,
  MAX_LOOKED_AT,
  MAX_POLYGON_VERTICES,
  MAX_SOURCES_RADIUS_ARCSEC,
  MAX_TABLE_MATCHES,
  MAX_TAP_UPLOADS,
  MAX_UNPACKED_AREA_BYTES,
  SOURCES_LIMIT_RANGE,
  TABLE_BUDGET_SECONDS,
} from '../contract/limits.ts';
import { MAX_MATCH_RADIUS_ARCSEC } from '../contract/table_match.ts';
import type { Config } from './config.ts';

const MIB = 2 ** 20;

/** The `limits` block of the service's description, with the keys of the API. */
export const limitsOf = memoized((config: Config) => {
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
    tables: {
      max_rows: config.API_MAX_TABLE_ROWS,
      max_columns: MAX_COLUMNS,
      max_row_bytes: MAX_ROW_BYTES,
      max_bytes: config.API_MAX_TABLE_MIB * MIB,
      max_matches: MAX_TABLE_MATCHES,
      max_radius_arcsec: MAX_MATCH_RADIUS_ARCSEC,
      budget_seconds: TABLE_BUDGET_SECONDS,
    },
    areas: {
      max_bytes: MAX_AREA_BYTES,
      max_unpacked_bytes: MAX_UNPACKED_AREA_BYTES,
      max_cells: MAX_AREA_CELLS,
      max_polygon_vertices: MAX_POLYGON_VERTICES,
      max_objects_examined: MAX_LOOKED_AT,
    },
    streams: {
      max_areas: config.NEARSKY_MAX_STREAM_AREAS,
      max_positions: MAX_FOLLOWED_POSITIONS,
      max_radius_arcsec: MAX_FOLLOWED_RADIUS_ARCSEC,
    },
    sources: {
      max_radius_arcsec: MAX_SOURCES_RADIUS_ARCSEC,
      default_limit: DEFAULT_SOURCES_LIMIT,
      max_limit: SOURCES_LIMIT_RANGE.max,
    },
    jobs: {
      max_jobs: config.JOBS_MAX,
      max_jobs_per_client: Math.min(config.JOBS_MAX, config.JOBS_MAX_PER_CLIENT),
      max_bytes: config.JOBS_MAX_MIB * MIB,
      retention_hours: config.JOBS_HOURS,
      max_run_seconds: config.JOBS_SECONDS,
      max_wait_seconds: MAX_JOB_WAIT_SECONDS,
    },
    tap: {
      max_queries: config.TAP_MAX_QUERIES,
      max_rows: config.TAP_MAX_RECORDS,
      max_query_seconds: config.TAP_QUERY_SECONDS,
      max_uploads: MAX_TAP_UPLOADS,
      max_upload_bytes: config.TAP_MAX_UPLOAD_MIB * MIB,
    },
  };
});

/** The page size of a cone search without `page_size`, in objects. */
export function defaultConePageSize(config: Config): number {
  return Math.min(config.API_MAX_OBJECTS_PER_POSITION, config.API_MAX_OBJECTS_PER_REQUEST);
}
