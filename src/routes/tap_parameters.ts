/** The parameters of queries in ADQL (TAP 1.1, section 2.7; DALI 1.1, section 3). Their names are in any case. */
import { Budget } from '../base/budget.ts';
import type { Config } from '../config/config.ts';
import { MAX_BODY_BYTES } from '../contract/limits.ts';
import { ApiError, invalidParameter, missingParameter } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { readBytes } from '../http/json_body.ts';
import type { Search } from '../http/params.ts';
import { EXAMPLES } from '../tap/documents.ts';
import type { TapQuery } from '../tap/engine.ts';
import { TAP_FORMATS, tapFormat } from '../tap/formats.ts';

const NAMES: ReadonlySet<string> = new Set(
  'REQUEST LANG QUERY MAXREC RESPONSEFORMAT FORMAT UPLOAD PHASE RUNID'.split(' '),
);

/** The time for a form to arrive. */
const FORM_SECONDS = 10;

/** The parameters of the query string and of a form, their names in upper case; without unknown ones, and those that have no value. */
export async function tapParametersOf({ request, method, search }: Exchange): Promise<Search> {
  const given = new Map([...search].map(([name, value]) => [name.toUpperCase(), value]));
  if (method === 'POST') {
    const type = (request.headers.get('Content-Type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded')
      throw invalidParameter('Content-Type', 'application/x-www-form-urlencoded', type);
    const bytes = await readBytes(request, new Budget(FORM_SECONDS), MAX_BODY_BYTES);
    for (const [name, value] of new URLSearchParams(new TextDecoder().decode(bytes)))
      given.set(name.toUpperCase(), value);
  }
  for (const [name, value] of given) if (value.trim() === '' || !NAMES.has(name)) given.delete(name);
  return given;
}

const LANGUAGES = ['ADQL', 'ADQL-2.0', 'ADQL-2.1'];

/** @throws ApiError */
export function tapQueryOf(given: Search, config: Config, seconds: number): TapQuery {
  return {
    query: queryOf(given),
    maxRecords: maxRecordsOf(given, config.TAP_MAX_RECORDS),
    format: formatOf(given),
    seconds,
  };
}

function queryOf(given: Search): string {
  const request = given.get('REQUEST') ?? 'doQuery';
  if (request !== 'doQuery') throw invalidParameter('REQUEST', 'doQuery', request);
  if (given.has('UPLOAD'))
    throw new ApiError('invalid_parameter', 'Tables cannot be uploaded: leave UPLOAD out', { param: 'UPLOAD' });
  const language = given.get('LANG');
  if (language === undefined) throw missingParameter('LANG', LANGUAGES[0]!);
  if (!LANGUAGES.includes(language.toUpperCase()))
    throw invalidParameter('LANG', `one of ${LANGUAGES.join(', ')}`, language);
  const query = given.get('QUERY');
  if (query === undefined) throw missingParameter('QUERY', `a query in ADQL, such as ${EXAMPLES[0][2]}`);
  return query;
}

/** More than the service lists count as that many. */
function maxRecordsOf(given: Search, most: number): number {
  const text = given.get('MAXREC') ?? `${most}`;
  if (!/^\s*\d+\s*$/.test(text)) throw invalidParameter('MAXREC', 'an integer of at least 0', text);
  return Math.min(Number(text), most);
}

function formatOf(given: Search) {
  const text = given.get('RESPONSEFORMAT') ?? given.get('FORMAT') ?? 'votable';
  const format = tapFormat(text);
  if (!format) {
    const names = TAP_FORMATS.flatMap(({ name, mediaType }) => [name, mediaType]);
    throw invalidParameter('RESPONSEFORMAT', `one of ${names.join(', ')}`, text);
  }
  return format;
}
