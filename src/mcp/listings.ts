/** The tools that list objects: around a position, in an area, and the latest ones (docs/contract.md, Connector). */

import { parseJson } from '@nearsky/astrotables/json';
import { takeText } from '../answers/answer_memory.ts';
import type { AreaQuery, Circle, ObjectsQuery, Query } from '../answers/queries.ts';
import type { JsonObject } from '../base/json_reader.ts';
import { formatTime, nowUs } from '../base/times.ts';
import { DEFAULT_LISTED_STATUS, type ListedStatus } from '../contract/enums.ts';
import { DEFAULT_CREDIBLE_LEVEL } from '../contract/limits.ts';
import { ALL_TIME } from '../http/selection_params.ts';
import { type ApiObject, nearest, newestState } from './answers.ts';
import { coneUrl, shellQuote } from './recipes.ts';
import { listingText, noObjectWithin } from './summary.ts';
import type { ToolContext, ToolRun } from './tool_context.ts';

/** The default time range of the listing of latest objects, hours. */
export const DEFAULT_HOURS = 24;

const HOUR_US = 3600e6;

const OBJECT = {
  type: 'object',
  properties: {
    diaObjectId: { type: 'string' },
    status: { type: 'string' },
    ra: { type: ['number', 'null'], description: 'ICRS, degrees' },
    dec: { type: ['number', 'null'], description: 'ICRS, degrees' },
    coincident_sources: { type: 'array', items: { type: 'object' } },
  },
  required: ['diaObjectId', 'status', 'coincident_sources'],
};

export const LISTING_SCHEMA = {
  type: 'object',
  properties: {
    objects_total: { type: 'integer', description: 'Objects in the area' },
    objects_returned: { type: 'integer' },
    truncated: {
      type: 'boolean',
      description: 'Whether there are more; truncation.full_results explains how to get them',
    },
    objects: { type: 'array', items: OBJECT },
  },
  required: ['objects_returned', 'truncated', 'objects'],
};

export const searchNearPosition =
  (circle: Circle): ToolRun =>
  async context => {
    const { service } = context;
    const { total, objects } = await nearest(circle, service.config.MCP_MAX_OBJECTS, context);
    const status = total > 0 ? 'objects_found' : 'no_rubin_object';
    const head = {
      center: { ra: circle.ra, dec: circle.dec },
      radius_arcsec: circle.radiusArcsec,
      order: 'nearest_first',
      status,
      reason: total > 0 ? undefined : noObjectWithin(circle.radiusArcsec, 'the position'),
      objects_total: total,
    };
    return listingText(service, head, objects, [status], total > objects.length, shown => ({
      note: `${total - shown} of ${total} objects are left out here. This address lists all of them in pages, ordered by ingest time, not by separation.`,
      url: coneUrl(context.base, circle),
    }));
  };

export const listInArea =
  (area: string): ToolRun =>
  async context => {
    const query: AreaQuery = {
      kind: 'area',
      response: 'objects',
      ...selection(context),
      area: new TextEncoder().encode(area),
      level: DEFAULT_CREDIBLE_LEVEL,
      digest: `text ${area}`,
      after: null,
      state: newestState(),
    };
    // The count comes first, because only the newest state is counted without reading objects.
    const { total } = await answerOf({ ...query, response: 'count', asOfUs: Number.POSITIVE_INFINITY }, context);
    const page = await pageOf(query, context);
    const curl = ['curl', '-sS', shellQuote(`${context.base}/api/area?detail=full`), '--data', shellQuote(area)].join(
      ' ',
    );
    return listing(page, context, { objects_total: page.isLast ? page.objects.length : total }, curl);
  };

/** @param catalog only objects with a source in this catalog; undefined for any */
export const listRecent =
  (hours: number, status: ListedStatus, catalog: string | undefined): ToolRun =>
  async context => {
    const startUs = nowUs() - Math.round(hours * HOUR_US);
    const start = formatTime(startUs);
    const filters: ObjectsQuery['filters'] = catalog === undefined ? null : [['catalog', catalog]];
    const query: ObjectsQuery = {
      kind: 'objects',
      response: 'objects',
      ...selection(context),
      startUs,
      status,
      filters,
      after: null,
    };
    const further = catalog === undefined ? '' : `&catalog=${catalog}`;
    const url = `${context.base}/api/objects?start=${encodeURIComponent(start)}&status=${status}${further}&detail=full`;
    const head = { ingested_since: start, status, catalog };
    return listing(await pageOf(query, context), context, head, `curl -sS ${shellQuote(url)}`);
  };

/** The parameters for one page of objects, with all their data. */
function selection({ service }: ToolContext) {
  return {
    ...ALL_TIME,
    filters: null,
    timeField: 'ingest_time' as const,
    status: DEFAULT_LISTED_STATUS,
    window: { start: null, end: null },
    detail: 'full' as const,
    pageSize: service.config.MCP_MAX_OBJECTS,
    asOfUs: service.asOfUs,
  };
}

async function answerOf(query: Query, context: ToolContext): Promise<JsonObject> {
  return parseJson(takeText(await context.service.queries.run(query, context))) as JsonObject;
}

async function pageOf(query: AreaQuery | ObjectsQuery, context: ToolContext) {
  const { objects, next_cursor } = await answerOf(query, context);
  return { objects: objects as readonly ApiObject[], isLast: next_cursor === null };
}

/** @param curl a shell command for the first page of all objects */
function listing(
  { objects, isLast }: Awaited<ReturnType<typeof pageOf>>,
  { service }: ToolContext,
  head: Readonly<Record<string, unknown>>,
  curl: string,
): string {
  return listingText(service, head, objects, [], !isLast, () => ({
    note: 'This command lists all of them in pages.',
    curl,
  }));
}
