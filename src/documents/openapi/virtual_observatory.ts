/**
 * Describes the operations of TAP and of jobs, as the Virtual Observatory defines them (TAP 1.1, UWS 1.1, VOSI 1.1,
 * DALI 1.1). src/routes/tap.ts and src/routes/jobs.ts answer them.
 */

import type { Config } from '../../config/config.ts';
import type { Catalogs } from '../../contract/catalogs.ts';
import { MATCH_FORMATS } from '../../contract/formats.ts';
import { AS_OF_HEADER, JOURNAL_ENTRY_HEADER } from '../../contract/headers.ts';
import { named } from '../../contract/kind.ts';
import { JOBS_PATH } from '../../contract/table_match.ts';
import { TAP_FORMATS, TAP_PATH } from '../../contract/tap.ts';
import * as kinds from '../kinds.ts';
import {
  JOB_ACTION,
  JOB_CHANGES,
  JOB_LIST_PARAMETERS,
  JOB_PARAMETERS,
  NEW_JOB_PARAMETERS,
  type Parameter,
  tapParameters,
} from '../parameters.ts';
import { errors, header, tapErrors } from './general.ts';
import { documentedParameters, type Operation } from './parameters.ts';
import { contentIn, resultHeaders, sessionHeader } from './responses.ts';
import { boolean, closed, integer, list, open, type Schema, type Schemas, text, time } from './schema.ts';

interface PlacedOperation extends Operation {
  readonly operationId: string;
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
}

type Table = Readonly<Record<string, Parameter>>;

const VOTABLE = { mediaType: 'application/x-votable+xml' };

const answer = (mediaType: string, description: string, headers?: Schemas): Schema => ({
  description,
  ...(headers && { headers }),
  content: contentIn([{ mediaType }], description),
});

const seeOther = (description: string, headers?: Schemas): Schema => ({
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

/** The documents in which TAP describes itself, by path: the name of the operation, the meaning and the type. */
const TAP_DOCUMENTS = {
  capabilities: ['tap_capabilities', 'The languages, formats and limits of queries in ADQL (VOSI 1.1).', 'text/xml'],
  availability: ['tap_availability', 'Whether queries can be answered now (VOSI 1.1).', 'text/xml'],
  tables: ['tap_tables', 'The tables and their columns (VOSI 1.1).', 'text/xml'],
  'tables/:name': ['tap_table', 'One table and its columns (VOSI 1.1).', 'text/xml'],
  examples: ['tap_examples', 'Examples of queries (DALI 1.1).', 'application/xhtml+xml'],
} as const;

export type TapDocument = keyof typeof TAP_DOCUMENTS;

const TABLES_DETAIL = {
  detail: { kind: named([{ name: 'min', meaning: 'without columns' }]), description: 'The level of detail.' },
} satisfies Table;
const TABLE_NAME = {
  name: { kind: kinds.ANY_TEXT, place: 'path', description: 'The name of the table, such as `nearsky.objects`.' },
} satisfies Table;
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

const bare = ({ mediaType }: { readonly mediaType: string }) => ({ mediaType: mediaType.split(';')[0]! });

/** The rows of a query. JSON comes last, because generators expect every answer to have the first type. */
const rows: Schema = {
  description: 'The rows.',
  headers: {
    [JOURNAL_ENTRY_HEADER]: header(
      integer('entry', 'The last entry of the journal that the tables of the answer include.', { minimum: 0 }),
    ),
    [AS_OF_HEADER]: header(time('When the archive was last seen to be in that state.')),
  },
  content: {
    ...contentIn(
      // A client that accepts a general XML type gets a VOTable with that type.
      [...TAP_FORMATS, { mediaType: 'text/xml' }, { mediaType: 'application/xml' }]
        .map(bare)
        .filter(({ mediaType }) => mediaType !== 'application/json'),
      'The rows.',
    ),
    'application/json': {
      schema: closed('The rows.', {
        columns: list(
          closed(
            'A column.',
            {
              name: text('Name of the column.'),
              type: text('Type of its values.'),
              unit: text('Unit of its values.'),
              ucd: text('UCD of the column.'),
              description: text('The meaning of the column.'),
            },
            ['unit', 'ucd', 'description'],
          ),
          'The columns.',
        ),
        info: { type: 'object', description: 'Information about the query.', additionalProperties: true },
        rows: list({ type: 'array', description: 'The cells of a row.', items: {} }, 'The rows.'),
        overflow: boolean('Whether there are more rows.'),
      }),
    },
  },
};

export function virtualObservatory(config: Config, catalogs: Catalogs): PlacedOperation[] {
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
      { parameters, ...rest }: Pick<Operation, 'requestBody' | 'responses'> & { readonly parameters?: Table },
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

  const query = tapParameters(config);
  const sync = {
    path: `${TAP_PATH}/sync`,
    summary: 'The rows of a query in ADQL.',
    description:
      'Parameter names are not case-sensitive. A query may fail after its first rows. A VOTable then ends with the reason; an answer in another ' +
      'format breaks off.',
    responses: { 200: rows, ...tapErrors(400, 503), ...errors([405]) },
  };
  const documents = Object.entries(TAP_DOCUMENTS).map(([path, [operationId, summary, mediaType]]): PlacedOperation => {
    const parameters = path === 'tables' ? TABLES_DETAIL : path === 'tables/:name' ? TABLE_NAME : {};
    return {
      method: 'get',
      path: `${TAP_PATH}/${path.replace(':name', '{name}')}`,
      operationId,
      summary,
      description: 'For clients of the Virtual Observatory.',
      parameters: documented(parameters),
      responses: { 200: answer(mediaType, 'The document.'), ...errors([405]) },
    };
  });
  const entrance: PlacedOperation = {
    method: 'get',
    path: TAP_PATH,
    operationId: 'tap_entrance',
    summary: 'The capabilities of the service; in a browser the page of queries.',
    description: 'For clients of the Virtual Observatory.',
    responses: { 200: answer('text/xml', 'The document.'), 303: seeOther('The page.'), ...errors([405]) },
  };
  return [
    entrance,
    { ...sync, method: 'get', operationId: 'query', parameters: documented(query) },
    { ...sync, method: 'post', operationId: 'query_by_form', requestBody: form(query, true, true) },
    ...documents,
    ...jobs({
      base: `${TAP_PATH}/async`,
      noun: 'query_job',
      words: 'a query in ADQL',
      errors: tapErrors,
      result: rows,
      error: VOTABLE,
      created: query,
    }),
    ...jobs({
      base: JOBS_PATH,
      noun: 'table_job',
      words: 'the crossmatch of a table (`POST /api/crossmatch` with `Prefer: respond-async`)',
      errors: (...statuses) => errors(statuses, 'filters_span_catalogs', 'unsupported_parameter'),
      result: {
        description: 'The table.',
        headers: resultHeaders,
        content: contentIn(MATCH_FORMATS.toReversed(), 'A table.'),
      },
    }),
  ];
}
