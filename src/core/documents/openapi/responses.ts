/** Bodies, headers and responses that operations share, for the OpenAPI document. */
import type { ErrorCode } from '../../contract/codes.ts';
import { JOURNAL_ENTRY_HEADER, POSITION_WARNING_HEADER, UNKNOWN_PARAMETERS_HEADER } from '../../contract/headers.ts';
import { errors, header, ignoredHeader } from './general.ts';
import { count, integer, ref, type Schema, type Schemas, text } from './schema.ts';
import { contentSchema, dispositionHeader, otherContent, tableHeaders } from './tables.ts';

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

const JOURNAL_ENTRY = header(
  integer(
    'entry',
    'The journal entry that the answer is from, for `at`. Missing if an input is a name, or no history is kept.',
    {
      minimum: 0,
    },
  ),
);

const OUTCOMES = header(
  text('The outcome of each catalog, as in JSON: `gaia_dr3=searched, des_y6_gold=outside_footprint`.'),
);

/** The responses of a search of catalogs, of which a table has the sources alone. */
export const withOutcomes = (responses: Record<string, Schema>) =>
  withHeaders(responses, { 'X-Catalog-Outcomes': OUTCOMES });

/** The responses of an operation that can also answer from an earlier state. */
export const stated = (responses: Record<string, Schema>) =>
  withHeaders(responses, { [JOURNAL_ENTRY_HEADER]: JOURNAL_ENTRY });

/** The responses of an operation that warns of right ascensions in hours. */
export const warning = (responses: Record<string, Schema>) => withHeaders(responses, positionWarningHeader);

function withHeaders({ 200: ok, ...others }: Record<string, Schema>, headers: Schemas): Record<string, Schema> {
  return { 200: { ...ok, headers: { ...(ok!.headers as Schemas), ...headers } }, ...others };
}

/** The responses of an operation that needs no database. */
export function staticResponses(description: string, schema: Schema): Record<string, Schema> {
  return { 200: { description, headers: ignoredHeader, content: json(schema) }, ...errors([405]) };
}

export const eventResponses = {
  200: {
    description: 'The events.',
    headers: {
      ...ignoredHeader,
      'Cache-Control': header(text('`no-store`.'), true),
      'X-Accel-Buffering': header(text('`no`: nginx passes each event on at once.'), true),
    },
    content: { 'text/event-stream': { schema: { type: 'string', description: 'Server-sent events.' } } },
  },
  ...errors([400, 405, 503]),
};

/** @param description the description of a body that may have any type */
export const areaBody = (description: string) => ({
  required: false,
  content: {
    ...contentIn([ANY_BYTES], description),
    ...contentIn([{ mediaType: 'application/fits' }], 'A MOC, or a probability map.'),
    'application/json': {
      schema: { type: 'object', description: 'A MOC: lists of cells by order.', additionalProperties: true },
    },
    'text/plain': { schema: text('CIRCLE, POLYGON, BOX, RANGE, or a MOC such as `3/1-5 7`.') },
  },
});

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

/** The headers of the answer with a crossmatched table. */
export const resultHeaders: Schemas = {
  'Content-Disposition': dispositionHeader,
  'X-Row-Count': header(count('The rows of the answer.'), true),
  'X-Input-Row-Count': header(count('The rows of the uploaded table.'), true),
  'X-Match-Count': header(count('The objects or sources found.'), true),
  'X-Position-Columns': header(
    text('The columns used for right ascension and declination, percent-encoded, separated by a blank.'),
    true,
  ),
  'X-Dropped-Columns': header(
    text(
      'The columns that the answer cannot hold, such as lists, bytes and complex numbers: percent-encoded, separated by blanks, 50 at most. `dropped_columns` in the metadata lists all.',
    ),
  ),
  [JOURNAL_ENTRY_HEADER]: JOURNAL_ENTRY,
  ...positionWarningHeader,
  'X-Position-Frame': header(
    text(
      'The frame of these positions, which were converted to ICRS, and how it was determined: `FK4 B1950; source=declaration`. The source is `request`, `declaration`, `column name` or `default`.',
    ),
    true,
  ),
};

/** The headers of an answer that browsers may cache. */
export const caching: Schemas = {
  ETag: header(text('The version of the answer, for `If-None-Match`; missing while objects are still counted.')),
  'Cache-Control': header(text('How long the answer may be cached.'), true),
};

export const allowed: Schemas = { Allow: header(text('The methods of the path.'), true) };
