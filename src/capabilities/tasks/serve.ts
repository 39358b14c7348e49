/** The list of processing tasks. */

import { errors, header } from '../../core/documents/openapi/general.ts';
import { allowed, json } from '../../core/documents/openapi/responses.ts';
import { integer, list, open, text } from '../../core/documents/openapi/schema.ts';
import type { Operations } from '../../core/host.ts';
import { describeTaskList, redirectToTaskList, taskList } from './task_list.ts';
import { TASK_PATH, TASKS } from './tasks.ts';

export const operations: Operations = [
  {
    name: 'list_tasks',
    method: 'GET',
    path: TASK_PATH,
    metric: 'task_list',
    isSpecified: true,
    document: () => ({
      summary: 'The names of the processing tasks of a transient.',
      description: `A bare array in a fixed order: ${TASKS.join('; ')}.`,
      responses: {
        200: {
          description: 'The tasks.',
          headers: allowed,
          content: json(
            list(
              {
                type: 'object',
                properties: { name: text('Name of the task.') },
                required: ['name'],
                additionalProperties: false,
              },
              'The tasks, in order.',
            ),
          ),
        },
        ...errors([405]),
      },
    }),
    isWithoutObjects: true,
    handler: () => taskList,
  },
  {
    name: 'head_tasks',
    method: 'HEAD',
    path: TASK_PATH,
    metric: 'task_list',
    document: () => ({
      summary: 'The headers of the task listing.',
      description: 'Like `list_tasks`, without a body.',
      responses: { 200: { description: 'No body.', headers: allowed } },
    }),
    isWithoutObjects: true,
    handler: () => taskList,
  },
  {
    name: 'describe_tasks',
    method: 'OPTIONS',
    path: TASK_PATH,
    metric: 'task_list',
    document: () => ({
      summary: 'A description of the task listing.',
      description: 'Name and formats of the listing.',
      responses: {
        200: {
          description: 'The description.',
          headers: allowed,
          content: json({
            ...open('The kind of the path.', {
              name: text('Name of the listing.'),
              description: text('The kind of the listed items.'),
              renders: list({ type: 'string' }, 'Media types that it answers with.'),
              parses: list({ type: 'string' }, 'Media types that it reads.', { maxItems: 0 }),
            }),
            additionalProperties: false,
          }),
        },
        204: {
          description: "The answer to a browser's preflight request.",
          headers: {
            ...allowed,
            'Access-Control-Allow-Methods': header(text('The methods of the path.'), true),
            'Access-Control-Allow-Headers': header(text('The headers that the browser requested.'), true),
            'Access-Control-Max-Age': header(integer('s', 'How long this may be cached.'), true),
          },
        },
      },
    }),
    isWithoutObjects: true,
    handler: () => describeTaskList,
  },
  {
    name: 'redirect_to_tasks',
    method: 'GET',
    path: '/api/task',
    metric: 'task_list',
    isWithoutObjects: true,
    handler: () => redirectToTaskList,
  },
];
