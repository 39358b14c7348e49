/** GET, HEAD and OPTIONS /api/task/: a bare array of names (docs/contract.md, Tasks); needs no database. */
import { toJson } from '@nearsky/astrotables/json';
import { TASK_PATH, TASKS } from '../documents/tasks.ts';
import type { Handler } from '../http/exchange.ts';
import { emptyResponse, isPreflight, jsonResponse, preflightResponse } from '../http/respond.ts';

const ALLOW = 'GET, HEAD, OPTIONS';

const TASK_LIST = toJson(TASKS.map(name => ({ name })));
const DESCRIPTION = toJson({
  name: 'Task List',
  description: 'The names of the processing tasks of a transient.',
  renders: ['application/json'],
  parses: [],
});

/** GET and HEAD. */
export const taskList: Handler = () => jsonResponse(200, TASK_LIST, { Allow: ALLOW });

/** Answers OPTIONS: a browser's preflight, or a request for the description of the listing. */
export const describeTaskList: Handler = ({ request }) => {
  if (!isPreflight(request)) return jsonResponse(200, DESCRIPTION, { Allow: ALLOW });
  const answer = preflightResponse(request, ALLOW);
  return { ...answer, headers: { ...answer.headers, Allow: ALLOW } };
};

/** GET /api/task, without the slash. */
export const redirectToTaskList: Handler = () => emptyResponse(301, { Location: TASK_PATH });
