/** Operations by which the service describes itself: its state, configuration, documents, metrics and list of tasks. */
import { toJson } from '@nearsky/astrotables/json';
import { memoized } from '../base/memoized.ts';
import { formatTime, nowUs } from '../base/times.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import { serviceDescription } from '../documents/describe.ts';
import { addressed } from '../documents/docs/addressed.ts';
import { apiDocs } from '../documents/docs/api_docs.ts';
import { toMarkdown } from '../documents/docs/blocks.ts';
import { llmsTxt } from '../documents/docs/llms_txt.ts';
import { openApiDocument } from '../documents/openapi/document.ts';
import { TASK_PATH, TASKS } from '../documents/tasks.ts';
import { baseUrl, rootPath } from '../http/base_url.ts';
import { sharedBody } from '../http/compression.ts';
import type { Handler } from '../http/exchange.ts';
import { emptyResponse, isPreflight, jsonResponse, preflightResponse, textResponse } from '../http/respond.ts';
import { METRICS_MEDIA_TYPE } from '../metrics/exposition.ts';
import type { Service } from '../service/service.ts';
import { isSnapshotCurrent } from '../tns/names.ts';

/** GET /api/status: 200 in any state of the service. */
export function serviceStatus(service: Service): Handler {
  return () => {
    const { provenance, config } = service;
    const seen = service.look();
    const epochUs = seen?.tnsSnapshotEpochUs ?? null;
    const isCurrent = isSnapshotCurrent(epochUs, nowUs(), config.TNS_SNAPSHOT_MAX_AGE_SECONDS);
    const body = {
      provenance,
      database: seen ? 'ok' : 'unavailable',
      service_version: provenance.service_version,
      contract_version: provenance.contract_version,
      tns_resolution: isCurrent ? 'available' : 'unavailable',
      tns_snapshot_epoch: isCurrent ? formatTime(epochUs) : null,
    };
    return jsonResponse(200, toJson(body));
  };
}

/** GET /api/describe: the live configuration; needs no database. */
export function describeService(service: Service): Handler {
  return () => jsonResponse(200, toJson(serviceDescription(service.config, service.catalogs)));
}

/** GET /openapi.json */
export function getOpenapi(service: Service): Handler {
  const document = memoized((catalogs: Catalogs) =>
    sharedBody(Buffer.from(toJson(openApiDocument(service.config, catalogs)))),
  );
  return () => jsonResponse(200, document(service.catalogs));
}

/** GET /llms.txt */
export function getLlmsTxt(service: Service): Handler {
  const { config } = service;
  const document = memoized((catalogs: Catalogs) => addressed(base => llmsTxt(config, base, catalogs)));
  return ({ request }) => textResponse('text/plain', document(service.catalogs)(baseUrl(request, config)));
}

/** GET /api-docs.md: the reference as Markdown. `routes/pages.ts` serves it as a page. */
export function markdownDocs(service: Service): Handler {
  const { config } = service;
  const document = memoized((catalogs: Catalogs) => addressed(base => toMarkdown(apiDocs(config, base, catalogs))));
  return ({ request }) =>
    textResponse('text/markdown', document(service.catalogs)(baseUrl(request, config)), {
      Link: `<${rootPath(config)}/llms.txt>; rel="describedby"`,
    });
}

/** GET /metrics, for Prometheus. */
export function metrics({ coordination }: Service): Handler {
  return async ({ budget }) => textResponse(METRICS_MEDIA_TYPE, await coordination.ask('metrics', null, budget));
}

const ALLOW = 'GET, HEAD, OPTIONS';

const TASK_LIST = toJson(TASKS.map(name => ({ name })));
const DESCRIPTION = toJson({
  name: 'Task List',
  description: 'The names of the processing tasks of a transient.',
  renders: ['application/json'],
  parses: [],
});

/** GET and HEAD /api/task/: a bare array of names (docs/contract.md, Tasks). */
export const taskList: Handler = () => jsonResponse(200, TASK_LIST, { Allow: ALLOW });

/** Answers OPTIONS: a browser's preflight, or a request for the description of the listing. */
export const describeTaskList: Handler = ({ request }) => {
  if (!isPreflight(request)) return jsonResponse(200, DESCRIPTION, { Allow: ALLOW });
  const answer = preflightResponse(request, ALLOW);
  return { ...answer, headers: { ...answer.headers, Allow: ALLOW } };
};

/** GET /api/task, without the slash. */
export const redirectToTaskList: Handler = () => emptyResponse(301, { Location: TASK_PATH });
