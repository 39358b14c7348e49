/** GET, HEAD and OPTIONS /api/task/: a bare array of names (docs/contract.md, Tasks); needs no database. */
import { toJson } from '../base/json_text.ts';
import { methodNotAllowed } from '../contract/errors.ts';
import { TASK_PATH, TASKS } from '../documents/tasks.ts';
import type { Handler } from '../http/exchange.ts';
import type { IncomingRequest } from '../http/incoming.ts';
import { type Answer, emptyResponse, isPreflight, jsonResponse, preflightResponse } from '../http/respond.ts';

const ALLOW = 'GET, HEAD, OPTIONS';

const TASK_LIST = toJson(TASKS.map(name => ({ name })));
const DESCRIPTION = toJson({
  name: 'Task List',
  description: 'The names of the processing tasks of a transient.',
  renders: ['application/json'],
  parses: [],
});

export const taskList: Handler = ({ method, request }) => {
  switch (method) {
    case 'GET':
    case 'HEAD':
      return jsonResponse(200, TASK_LIST, { Allow: ALLOW });
    case 'OPTIONS':
      return isPreflight(request) ? preflight(request) : jsonResponse(200, DESCRIPTION, { Allow: ALLOW });
    default:
      throw methodNotAllowed(method, ALLOW);
  }
};

function preflight(request: IncomingRequest): Answer {
  const answer = preflightResponse(request, ALLOW);
  return { ...answer, headers: { ...answer.headers, Allow: ALLOW } };
}

/** GET /api/task, without the slash. */
export const redirectToTaskList: Handler = () => emptyResponse(301, { Location: TASK_PATH });
