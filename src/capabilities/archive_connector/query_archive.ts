/** The tool that runs a query in ADQL (docs/contract.md, Connector). */

import { spelled, tableName } from '@nearsky/adql';
import { parseJson } from '@nearsky/astrotables/json';
import type { JsonObject } from '../../core/base/json_reader.ts';
import { textual } from '../../core/contract/kind.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import type { ToolRun } from '../../core/http/tool.ts';
import { beginQuery } from '../adql/adql_query.ts';
import { BESIDE } from '../adql/beside_tables.ts';
import { adqlSettings } from '../adql/settings.ts';
import { archiveTables } from '../adql/tables.ts';
import { EXAMPLES, tapFormat } from '../adql/tap_formats.ts';
import { answerText } from '../connector/answer_text.ts';
import { shellQuote } from '../connector/recipes.ts';
import { connectorSettings } from '../connector/settings.ts';
import { ToolError } from '../connector/tool_error.ts';

/** The maximum number of rows of an answer. */
export const MAX_QUERY_ROWS = 200;
const MAX_QUERY_CHARACTERS = 5000;

/** The JSON Schema of an answer. */
export const QUERY_SCHEMA = {
  type: 'object',
  properties: {
    rows_returned: { type: 'integer' },
    truncated: { type: 'boolean', description: 'Whether there are more rows, which full_results tells how to get' },
    full_results: { type: 'string', description: 'A shell command for all rows, as CSV' },
    rows: {
      type: 'array',
      items: { type: 'object' },
      description: 'By column; integers beyond 2^53, such as every diaObjectId, are texts of digits',
    },
  },
  required: ['rows_returned', 'truncated', 'rows'],
};

/**
 * The tables and their columns, for an assistant that writes a query. The catalogs' columns are omitted, because there
 * are too many.
 */
export function tablesInWords(): string {
  const all = [...archiveTables({ all: [], footprintOrders: undefined }), ...BESIDE];
  const tables = all.map(table => {
    const columns = table.columns.map(({ name, unit }) => spelled(name) + (unit ? ` [${unit}]` : ''));
    return `${tableName(table)} (${table.description}): ${columns.join(', ')}`;
  });
  return tables.join('. ');
}

export const QUERY_EXAMPLE = EXAMPLES[1][2].replaceAll('\n', ' ');

export const QUERY = textual(
  `a query in ADQL of 1 to ${MAX_QUERY_CHARACTERS} characters`,
  text => (text.trim() !== '' && text.length <= MAX_QUERY_CHARACTERS ? text : undefined),
  { maxLength: MAX_QUERY_CHARACTERS },
);

export const queryArchive =
  (query: string): ToolRun =>
  async ({ service, client, base }) => {
    const { config } = service;
    const format = tapFormat('ndjson')!;
    const asked = {
      query,
      maxRecords: MAX_QUERY_ROWS + 1,
      format,
      seconds: adqlSettings.of(config).TAP_QUERY_SECONDS,
      uploads: [],
    };
    const begun = await beginQuery(service, asked, client);
    if ('refused' in begun) throw new ToolError('invalid_arguments', begun.refused);
    const parts: Uint8Array[] = [];
    try {
      for (let part = await begun.next(); part; part = await begun.next()) parts.push(part);
    } finally {
      begun.end();
    }
    const lines = Buffer.concat(parts).toString('utf8').split('\n').filter(Boolean);
    const rows = lines.slice(0, MAX_QUERY_ROWS).map(rowOf);
    const form = ['LANG=ADQL', 'FORMAT=csv', `QUERY=${query}`].map(each => `--data-urlencode ${shellQuote(each)}`);
    const full_results = `curl -sS ${shellQuote(`${base}${TAP_PATH}/sync`)} ${form.join(' ')}`;
    for (;;) {
      const truncated = rows.length < lines.length;
      const answer = { rows_returned: rows.length, truncated, ...(truncated && { full_results }), rows };
      const text = answerText(answer);
      if (text.length <= connectorSettings.of(config).MCP_MAX_RESULT_CHARS || rows.length === 0) return text;
      rows.length = Math.floor(rows.length * 0.9);
    }
  };

function rowOf(line: string): unknown {
  const cells = Object.entries(parseJson(line) as JsonObject);
  return Object.fromEntries(cells.map(([name, cell]) => [name, typeof cell === 'bigint' ? `${cell}` : cell]));
}
