import { toJson } from '@nearsky/astrotables/json';
import type { Handler } from '../../core/http/exchange.ts';
import { emptyResponse, isPreflight, jsonResponse, preflightResponse } from '../../core/http/respond.ts';
import { TASK_PATH, TASKS } from './tasks.ts';

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
