/**
 * Describes the operations of jobs, as the Virtual Observatory defines them (UWS 1.1). src/capabilities/jobs/job_routes.ts answers
 * them.
 */

import type { Catalogs } from '../../core/contract/catalogs.ts';
import * as kinds from '../../core/documents/kinds.ts';
import { header } from '../../core/documents/openapi/general.ts';
import { documentedParameters, type OperationObject } from '../../core/documents/openapi/parameters.ts';
import { contentIn, sessionHeader } from '../../core/documents/openapi/responses.ts';
import { open, type Schema, type Schemas, text } from '../../core/documents/openapi/schema.ts';
import type { PlacedOperation } from '../../core/documents/operations.ts';
import type { Parameter } from '../../core/documents/parameters.ts';
import { JOB_ACTION, JOB_CHANGES, JOB_LIST_PARAMETERS, JOB_PARAMETERS, NEW_JOB_PARAMETERS } from './parameters.ts';

type Table = Readonly<Record<string, Parameter>>;

export const VOTABLE = { mediaType: 'application/x-votable+xml' };

export const answer = (mediaType: string, description: string, headers?: Schemas): Schema => ({
  description,
  ...(headers && { headers }),
  content: contentIn([{ mediaType }], description),
});

export const seeOther = (description: string, headers?: Schemas): Schema => ({
  description,
  headers: { Location: header(text('Its absolute address.', { format: 'uri' }), true), ...headers },
});

/** The resources of a job (UWS 1.1, section 2.2.2): for each its meaning, and the type of its answer. */
const JOB_RESOURCES = {
  phase: ['The phase of a job: PENDING, QUEUED, EXECUTING, COMPLETED, ERROR or ABORTED.', 'text/plain'],
  executionduration: ['The time limit of a job, in seconds.', 'text/plain'],
  destruction: ['The time when a job and its result are removed.', 'text/plain'],
  quote: ['Empty: the service does not estimate when a job will end.', 'text/plain'],
  owner: ['Empty: jobs have no owner.', 'text/plain'],
  error: ['The reason why the job failed; empty if it did not.', 'text/plain'],
  parameters: ['The parameters of a job.', 'text/xml'],
  results: ['The address, type and size of the result, once it exists.', 'text/xml'],
} as const;

export type JobResource = keyof typeof JOB_RESOURCES;

const JOB_ID = {
  id: { kind: kinds.ANY_TEXT, place: 'path', description: 'The name of the job.' },
} satisfies Table;

interface Jobs {
  readonly base: string;
  /** The word for a job in the names of operations. */
  readonly noun: string;
  readonly words: string;
  readonly errors: (...statuses: number[]) => Record<string, Schema>;
  readonly result: Schema;
  /** The additional type of the error document of a failed job. */
  readonly error?: { readonly mediaType: string };
  /** The parameters of a new job, if clients create jobs here. */
  readonly created?: Table;
}

/** Writes the operations of a capability that runs jobs. */
export function jobWriter(catalogs: Catalogs) {
  const documented = (table: Table) => documentedParameters(table, catalogs);
  /** A form with these parameters. None of them is required, because a later request may set it. */
  const form = (table: Table, isWhole: boolean, hasTables = false): Schema => {
    const fields = documented(table);
    const properties = Object.fromEntries(
      fields.map(({ name, description, schema }) => [name, { ...schema, description }]),
    );
    const optional = fields.filter(({ required }) => !isWhole || !required).map(({ name }) => name);
    const schema = open('The parameters. Their names are not case-sensitive.', properties, optional);
    const parts = { ...schema, additionalProperties: text('A table that UPLOAD names.', { format: 'binary' }) };
    return {
      required: true,
      content: {
        'application/x-www-form-urlencoded': { schema },
        ...(hasTables && { 'multipart/form-data': { schema: parts } }),
      },
    };
  };

  const jobs = ({ base, noun, words, errors, result, error, created }: Jobs): PlacedOperation[] => {
    const noStore = { 'Cache-Control': header(text('`no-store`.'), true) };
    const isSeen = 'HEAD is answered like GET, without a body.';
    const of = (
      method: PlacedOperation['method'],
      name: string,
      path: string,
      summary: string,
      description: string,
      { parameters, ...rest }: Pick<OperationObject, 'requestBody' | 'responses'> & { readonly parameters?: Table },
    ): PlacedOperation => ({
      method,
      path: `${base}${path}`,
      operationId: name,
      summary,
      description,
      parameters: documented({ ...(path.startsWith('/{id}') && JOB_ID), ...parameters }),
      ...rest,
    });
    const seen = (ok: Schema, ...statuses: number[]) => ({ 200: ok, ...errors(...statuses, 405, 503) });
    const changed = { 303: seeOther('The current state of the job.'), ...errors(400, 404, 405, 503) };
    const removed = { 303: seeOther('The list of jobs: the job is removed.'), ...errors(400, 404, 405, 503) };
    const read = Object.entries(JOB_RESOURCES).map(([part, [meaning, mediaType]]) => {
      const plain = answer(mediaType, meaning, mediaType === 'text/xml' ? noStore : undefined);
      const failed = {
        ...plain,
        content: { ...contentIn(error ? [error] : [], meaning), ...(plain.content as Schema) },
      };
      return of('get', `get_${noun}_${part}`, `/{id}/${part}`, meaning, isSeen, {
        responses: seen(part === 'error' ? failed : plain, 404),
      });
    });
    const change = Object.entries(JOB_CHANGES).map(([name, parameter]) => {
      const part = name.toLowerCase();
      const sent: Table = { [name]: { ...parameter, required: 'always' } };
      return of('post', `set_${noun}_${part}`, `/{id}/${part}`, `Sets the ${part} of a job.`, parameter.description, {
        requestBody: form(sent, true),
        responses: changed,
      });
    });
    const makes = created && [
      of(
        'post',
        `create_${noun}`,
        '',
        `Makes a job of ${words}.`,
        'It waits for PHASE=RUN, unless PHASE is RUN already.',
        {
          requestBody: form({ ...created, ...NEW_JOB_PARAMETERS }, false, true),
          responses: { 303: seeOther('The job.', sessionHeader), ...errors(400, 405, 503) },
        },
      ),
      of(
        'post',
        `set_${noun}_parameters`,
        '/{id}/parameters',
        'Adds parameters to a job, or replaces them.',
        'A job that has started cannot be changed: 400.',
        { requestBody: form(created, false, true), responses: changed },
      ),
    ];
    return [
      of(
        'get',
        `list_${noun}s`,
        '',
        'The jobs of a session, the newest first.',
        `The cookie that the answer to a new job sets names the session; without it the list is empty. ${isSeen}`,
        {
          parameters: JOB_LIST_PARAMETERS,
          responses: seen(answer('text/xml', 'The list.', noStore), 400),
        },
      ),
      of(
        'get',
        `get_${noun}`,
        '/{id}',
        `A job of ${words}.`,
        `Phase, times, parameters, results, and the reason of a failure. ${isSeen}`,
        { parameters: JOB_PARAMETERS, responses: seen(answer('text/xml', 'The job.', noStore), 404) },
      ),
      of('post', `change_${noun}`, '/{id}', 'Removes a job.', 'The same as DELETE, for clients that send forms.', {
        requestBody: form(JOB_ACTION, true),
        responses: removed,
      }),
      of('delete', `delete_${noun}`, '/{id}', 'Removes a job.', 'A job that runs is stopped first.', {
        responses: { 303: removed[303], ...errors(404, 405, 503) },
      }),
      ...read,
      of('get', `get_${noun}_result`, '/{id}/results/result', `The result of a job: ${words}.`, isSeen, {
        responses: seen(result, 404),
      }),
      ...change,
      ...(makes ?? []),
    ];
  };

  return { documented, form, jobs };
}
