/** POST /api/sample with a table: answers at once, or makes a job. */
import type { Config } from '../../core/config/config.ts';
import { acceptsFits, preferredFormat } from '../../core/http/accept.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Answer } from '../../core/http/respond.ts';
import { TABLE_HEADERS } from '../../core/http/table_response.ts';
import type { Service } from '../../core/service/service.ts';
import { answerTable, requireRead, type TableUse } from '../jobs/sent_table.ts';
import { positionWarning } from '../objects/position_warning.ts';
import { SAMPLE_LIST } from './channel.ts';
import type { ListFormat } from './list_report.ts';
import { formatHeaders, type ListJobRequest, type ListWritten, SAMPLE_JOB } from './lists.ts';
import { SAMPLE_JOBS_PATH, sampleParameters } from './parameters.ts';
import { registeredNames } from './parse_sample.ts';
import { REPORT_FORMATS } from './report_formats.ts';

export const maxListBytes = ({ API_MAX_TABLE_MIB }: Config) => API_MAX_TABLE_MIB * 2 ** 20;

export async function reportList(service: Service, exchange: Exchange): Promise<Answer> {
  const use = listUse(service, parseList(exchange, service));
  return await answerTable(service, exchange, { maxBytes: maxListBytes(service.config), wanted: LIST_WANTED, ...use });
}

/** Completes the error about an empty body. */
export const LIST_WANTED = 'send a table, or JSON with the Content-Type application/json';

/** What to do with a table that takes too long. */
export const SEND_AS_JOB = 'send it with Prefer: respond-async, or in parts';

export function listUse({ coordination }: Service, request: ListJobRequest): Pick<TableUse, 'answer' | 'job'> {
  return {
    async answer(files, budget) {
      const written = await coordination.ask(SAMPLE_LIST, { ...files, request }, budget);
      const whole = requireRead(written, 'report on', SEND_AS_JOB);
      return { headers: listHeaders(whole), bytes: whole.bytes };
    },
    job: { kind: SAMPLE_JOB, path: SAMPLE_JOBS_PATH, request },
  };
}

/** @throws ApiError */
export function parseList(
  { search, request }: Pick<Exchange, 'search' | 'request'>,
  { catalogs, config }: Service,
): ListJobRequest {
  const read = readerOf(search, sampleParameters(config), catalogs);
  const format = read('format') ?? acceptedFormat(request.headers.get('Accept'));
  if (format === 'msgpack') throw invalidParameter('format', 'json, or a format of tables', format);
  const names = read('catalogs')?.split(',');
  const unknown = names?.find(name => !catalogs.get(name));
  if (unknown !== undefined)
    throw invalidParameter('catalogs', `some of ${catalogs.all.map(({ name }) => name).join(', ')}`, unknown);
  return {
    format,
    catalogs: names
      ? catalogs.all.flatMap(({ name }) => (names.includes(name) ? [name] : []))
      : registeredNames(catalogs),
    radiusArcsec: config.CROSSMATCH_RADIUS_ARCSEC,
    objectRadiusArcsec: search.has('radius_arcsec') ? read('radius_arcsec') : undefined,
    brightMag: read('bright_mag'),
    brightArcsec: read('bright_radius_arcsec'),
    columns: {
      id: read('id'),
      name: read('name'),
      ra: read('ra'),
      dec: read('dec'),
      frame: read('frame'),
      raUnit: read('ra_unit'),
    },
  };
}

function acceptedFormat(accept: string | null): ListFormat | 'msgpack' {
  return acceptsFits(accept) ? 'fits' : preferredFormat(accept, REPORT_FORMATS);
}

export function listHeaders({
  format,
  rows,
  warning,
}: ListWritten & { readonly outcome: 'written' }): Record<string, string> {
  const headers = {
    ...formatHeaders(format),
    'Access-Control-Expose-Headers': TABLE_HEADERS,
    'X-Row-Count': `${rows}`,
  };
  return { ...headers, ...positionWarning(headers, warning) };
}
