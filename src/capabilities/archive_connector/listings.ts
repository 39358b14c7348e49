/** The tools that list objects: in an area, and the latest ones (docs/contract.md, Connector). */

import { parseJson } from '@nearsky/astrotables/json';
import { takeText } from '../../core/answers/answer_memory.ts';
import type { QueryAnswer } from '../../core/answers/body.ts';
import { stateOfAnswer } from '../../core/answers/queries.ts';
import type { JsonObject } from '../../core/base/json_reader.ts';
import { formatTime, nowUs } from '../../core/base/times.ts';
import { DEFAULT_LISTED_STATUS, type ListedStatus } from '../../core/contract/enums.ts';
import { DEFAULT_CREDIBLE_LEVEL } from '../../core/contract/limits.ts';
import type { ToolContext, ToolRun } from '../../core/http/tool.ts';
import { AREA_QUERY, type AreaQuery } from '../areas/area_answer.ts';
import type { ApiObject } from '../connector/answers.ts';
import { shellQuote } from '../connector/recipes.ts';
import { connectorSettings } from '../connector/settings.ts';
import { listingText } from '../connector/summary.ts';
import { OBJECTS_QUERY, type ObjectsQuery } from '../listing/listing_answer.ts';
import { ALL_TIME } from '../listing/selection_params.ts';

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

export const listInArea =
  (area: string): ToolRun =>
  async context => {
    const query: AreaQuery = {
      kind: AREA_QUERY,
      response: 'objects',
      ...selection(context),
      area: new TextEncoder().encode(area),
      level: DEFAULT_CREDIBLE_LEVEL,
      digest: `text ${area}`,
      after: null,
      state: stateOfAnswer(),
    };
    // The count comes first, because only the newest state is counted without reading objects.
    const counting: AreaQuery = { ...query, response: 'count', asOfUs: Number.POSITIVE_INFINITY };
    const counted = await context.service.queries.run(counting, context);
    const { total } = jsonOf(counted);
    const page = await pageOf({ ...query, state: stateOfAnswer(counted) }, context);
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
      kind: OBJECTS_QUERY,
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
    pageSize: connectorSettings.of(service.config).MCP_MAX_OBJECTS,
    asOfUs: service.asOfUs,
  };
}

function jsonOf({ body }: QueryAnswer): JsonObject {
  return parseJson(takeText(body)) as JsonObject;
}

async function pageOf(query: AreaQuery | ObjectsQuery, context: ToolContext) {
  const { objects, next_cursor } = jsonOf(await context.service.queries.run(query, context));
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
