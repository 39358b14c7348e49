/** Describes the operations of TAP (TAP 1.1, VOSI 1.1, DALI 1.1). tap_routes.ts answers them. */
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { AS_OF_HEADER, JOURNAL_ENTRY_HEADER } from '../../core/contract/headers.ts';
import { named } from '../../core/contract/kind.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import { ANY_TEXT } from '../../core/documents/kinds.ts';
import { errors, header, tapErrors } from '../../core/documents/openapi/general.ts';
import { contentIn } from '../../core/documents/openapi/responses.ts';
import { boolean, closed, integer, list, type Schema, text, time } from '../../core/documents/openapi/schema.ts';
import type { PlacedOperation } from '../../core/documents/operations.ts';
import type { Parameters } from '../../core/documents/parameters.ts';
import { answer, jobWriter, seeOther, VOTABLE } from '../jobs/job_documents.ts';
import { tapParameters } from './parameters.ts';
import { TAP_FORMATS } from './tap_formats.ts';

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
} satisfies Parameters;
const TABLE_NAME = {
  name: { kind: ANY_TEXT, place: 'path', description: 'The name of the table, such as `nearsky.objects`.' },
} satisfies Parameters;
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

/** The operations of TAP. */
export function tapOperations(config: Config, catalogs: Catalogs): PlacedOperation[] {
  const { documented, form, jobs } = jobWriter(catalogs);
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
  ];
}
