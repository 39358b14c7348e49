/** Bodies, headers and responses that operations share, for the OpenAPI document. */
import type { ErrorCode } from '../../contract/codes.ts';
import { JOURNAL_ENTRY_HEADER, POSITION_WARNING_HEADER, UNKNOWN_PARAMETERS_HEADER } from '../../contract/headers.ts';
import { errors, header, ignoredHeader } from './general.ts';
import { integer, ref, type Schema, type Schemas, text } from './schema.ts';
import { contentSchema, otherContent, tableHeaders } from './tables.ts';

/** Whether a response has the header that lists the ignored parameters. */
export function namesIgnored(response: Schema | undefined): boolean {
  return Object.keys(response?.headers ?? {}).includes(UNKNOWN_PARAMETERS_HEADER);
}

export const json = (schema: Schema) => ({ 'application/json': { schema } });

/** The responses of an operation that runs queries, with every error code but those in `except`. */
export function queryResponses(
  description: string,
  schema: Schema,
  ...except: readonly ErrorCode[]
): Record<string, Schema> {
  const ok = { description, headers: ignoredHeader, content: json(schema) };
  return { 200: ok, ...errors([400, 405, 503], ...except) };
}

/** The responses of an operation that runs queries and can answer with tables. */
export function tableResponses(
  description: string,
  schema: Schema,
  ...except: readonly ErrorCode[]
): Record<string, Schema> {
  const { 200: ok, ...others } = queryResponses(description, schema, ...except);
  return {
    200: { ...ok, headers: { ...ignoredHeader, ...tableHeaders }, content: { ...json(schema), ...otherContent } },
    ...others,
  };
}

export function filteredResponses(
  description: string,
  answer: string,
  ...except: readonly ErrorCode[]
): Record<string, Schema> {
  return tableResponses(description, { oneOf: [ref(answer), ref('CountResponse')] }, ...except);
}

export const JOURNAL_ENTRY = header(
  integer(
    'entry',
    'The journal entry that the answer is from, for `at`. Missing if an input is a name, or no history is kept.',
    {
      minimum: 0,
    },
  ),
);

/** The responses of an operation that can also answer from an earlier state. */
export const stated = (responses: Record<string, Schema>) =>
  withHeaders(responses, { [JOURNAL_ENTRY_HEADER]: JOURNAL_ENTRY });

/** The responses of an operation that warns of right ascensions in hours. */
export const warning = (responses: Record<string, Schema>) => withHeaders(responses, positionWarningHeader);

export function withHeaders({ 200: ok, ...others }: Record<string, Schema>, headers: Schemas): Record<string, Schema> {
  return { 200: { ...ok, headers: { ...(ok!.headers as Schemas), ...headers } }, ...others };
}

/** The responses of an operation that needs no database. */
export function staticResponses(description: string, schema: Schema): Record<string, Schema> {
  return { 200: { description, headers: ignoredHeader, content: json(schema) }, ...errors([405]) };
}

/** A body in any format, which is recognised from its bytes. Every client generator can send this type. */
export const ANY_BYTES = { mediaType: 'application/octet-stream' };

export const contentIn = (formats: readonly { readonly mediaType: string }[], description: string) =>
  Object.fromEntries(formats.map(({ mediaType }) => [mediaType, { schema: contentSchema(mediaType, description) }]));

/** The header that begins the session of a client without one. */
export const sessionHeader: Schemas = {
  'Set-Cookie': header(text('The session whose lists of jobs include the job.')),
};

/** The headers of the answer to a request that was turned into a job. */
export const jobHeaders: Schemas = {
  Location: header(text('The address of the job. It cannot be guessed.', { format: 'uri' }), true),
  'Preference-Applied': header(text('The preference that was followed: `respond-async`.'), true),
  ...sessionHeader,
};

export const positionWarningHeader: Schemas = {
  [POSITION_WARNING_HEADER]: header(
    text('What the positions look like, if they were taken for something else: hours.'),
  ),
};

/** The headers of an answer that browsers may cache. */
export const caching: Schemas = {
  ETag: header(text('The version of the answer, for `If-None-Match`; missing while objects are still counted.')),
  'Cache-Control': header(text('How long the answer may be cached.'), true),
};

export const allowed: Schemas = { Allow: header(text('The methods of the path.'), true) };
