/** POST /api/sample with a table: answers at once, or makes a job. */
import { Unavailable } from '../../core/base/refusal.ts';
import type { Config } from '../../core/config/config.ts';
import { TABLE_BUDGET_SECONDS } from '../../core/contract/limits.ts';
import { acceptsFits, preferredFormat } from '../../core/http/accept.ts';
import { ApiError, invalidParameter } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Answer } from '../../core/http/respond.ts';
import { answerTable } from '../../core/http/sent_table.ts';
import { dispositionOf, TABLE_HEADERS } from '../../core/http/table_response.ts';
import type { Service } from '../../core/service/service.ts';
import { SAMPLE_LIST } from './channel.ts';
import type { ListFormat } from './list_report.ts';
import { type ListJobRequest, type ListWritten, mediaTypeOf, SAMPLE_JOB } from './lists.ts';
import { SAMPLE_JOBS_PATH, sampleParameters } from './parameters.ts';
import { registeredNames } from './parse_sample.ts';

export const maxListBytes = ({ API_MAX_TABLE_MIB }: Config) => API_MAX_TABLE_MIB * 2 ** 20;

export async function reportList(service: Service, exchange: Exchange): Promise<Answer> {
  const { config, coordination } = service;
  const request = parse(exchange, service);
  return await answerTable(service, exchange, {
    maxBytes: maxListBytes(config),
    wanted: 'send a table, or JSON with the Content-Type application/json',
    async answer(files, budget) {
      const written = await coordination.ask(SAMPLE_LIST, { ...files, request }, budget);
      if (!written)
        throw new ApiError(
          'query_too_expensive',
          `Cannot report on the table within ${TABLE_BUDGET_SECONDS} s: send it with Prefer: respond-async, or in parts`,
        );
      if (written.outcome === 'refused')
        throw new ApiError('invalid_parameter', `Cannot report on the table because ${written.message}`, {
          param: written.param ?? 'body',
        });
      if (written.outcome === 'unavailable') throw new Unavailable(written.message);
      return { headers: listHeaders(written), bytes: written.bytes };
    },
    job: { kind: SAMPLE_JOB, path: SAMPLE_JOBS_PATH, request },
  });
}

function parse({ search, request }: Exchange, { catalogs, config }: Service): ListJobRequest {
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
    columns: { id: read('id'), name: read('name'), ra: read('ra'), dec: read('dec'), frame: read('frame') },
  };
}

function acceptedFormat(accept: string | null): ListFormat | 'msgpack' {
  return acceptsFits(accept) ? 'fits' : preferredFormat(accept);
}

export function listHeaders({ format, rows }: ListWritten & { readonly outcome: 'written' }): Record<string, string> {
  return {
    'Content-Type': mediaTypeOf(format),
    'Access-Control-Expose-Headers': TABLE_HEADERS,
    ...(format !== 'json' && { 'Content-Disposition': dispositionOf('sample', format) }),
    'X-Row-Count': `${rows}`,
  };
}
