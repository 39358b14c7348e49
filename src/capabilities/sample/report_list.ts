/** POST /api/sample with a table: answers at once, or makes a job. */
import { Budget } from '../../core/base/budget.ts';
import { discard, flush } from '../../core/base/files.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { spoolPath } from '../../core/base/spool.ts';
import type { Config } from '../../core/config/config.ts';
import { TABLE_BUDGET_SECONDS } from '../../core/contract/limits.ts';
import { preferredFormat } from '../../core/http/accept.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { ApiError, invalidParameter } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { beginJobSession } from '../../core/http/job_session.ts';
import { invalidBody, readParts } from '../../core/http/json_body.ts';
import { fileStream } from '../../core/http/part_stream.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import { type Answer, emptyResponse, NEGOTIATED, streamedResponse } from '../../core/http/respond.ts';
import { SentFile } from '../../core/http/sent_file.ts';
import { dispositionOf, TABLE_HEADERS } from '../../core/http/table_response.ts';
import { JOBS } from '../../core/jobs/channel.ts';
import type { JobStep } from '../../core/jobs/job_queue.ts';
import { JobStore } from '../../core/jobs/job_store.ts';
import type { Service } from '../../core/service/service.ts';
import { SAMPLE_LIST } from './channel.ts';
import type { ListFormat } from './list_report.ts';
import { type ListJobRequest, type ListWritten, mediaTypeOf, SAMPLE_JOB } from './lists.ts';
import { SAMPLE_JOBS_PATH, sampleParameters } from './parameters.ts';
import { registeredNames } from './parse_sample.ts';

export const maxListBytes = ({ API_MAX_TABLE_MIB }: Config) => API_MAX_TABLE_MIB * 2 ** 20;

export async function reportList(service: Service, exchange: Exchange): Promise<Answer> {
  const { config, spool } = service;
  const request = parse(exchange, service);
  const sent = new SentFile(config.NEARSKY_DATA, spool, exchange.client);
  try {
    const budget = new Budget(TABLE_BUDGET_SECONDS);
    await readParts(exchange.request, budget, maxListBytes(config), part => sent.add(part));
    if (sent.bytes === 0)
      throw invalidBody('it is empty: send a table, or JSON with the Content-Type application/json');
    const isJob = /\brespond-async\b/i.test(exchange.request.headers.get('Prefer') ?? '');
    return isJob ? await asJob(service, exchange, request, sent) : await now(service, exchange, request, sent);
  } finally {
    sent.remove();
  }
}

async function now(service: Service, { client }: Exchange, request: ListJobRequest, sent: SentFile): Promise<Answer> {
  const { coordination, config, spool } = service;
  const output = spoolPath(config.NEARSKY_DATA);
  try {
    const files = { input: sent.content(), inputBytes: sent.bytes, output, maxOutputBytes: spool.left(client) };
    const written = await coordination.ask(
      SAMPLE_LIST,
      { client, request, ...files },
      new Budget(TABLE_BUDGET_SECONDS),
    );
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
    spool.take(client, written.bytes);
    const stream = await fileStream(output, () => spool.free(client, written.bytes));
    return streamedResponse({ ...listHeaders(written), Vary: NEGOTIATED }, stream);
  } finally {
    discard(output);
  }
}

async function asJob(service: Service, exchange: Exchange, request: ListJobRequest, sent: SentFile): Promise<Answer> {
  const { coordination, config } = service;
  const jobs = new JobStore(config.NEARSKY_DATA);
  const client = exchange.client;
  const ask = (step: JobStep) =>
    coordination.ask(JOBS, { client, step }, new Budget(config.API_REQUEST_BUDGET_SECONDS));
  const parameters = Object.fromEntries(exchange.search);
  const base = baseUrl(exchange.request, config);
  const { mark: session, headers } = beginJobSession(exchange, base);
  const job = await ask({ step: 'create', kind: SAMPLE_JOB, client, session, request, parameters, bytes: sent.bytes });
  const { id } = job!;
  try {
    sent.moveTo(jobs.inputPath(id));
    flush(jobs.inputPath(id));
  } catch (error) {
    await ask({ step: 'remove', id });
    throw error;
  }
  await ask({ step: 'run', id });
  return emptyResponse(202, {
    Location: `${base}${SAMPLE_JOBS_PATH}/${id}`,
    ...headers,
    'Preference-Applied': 'respond-async',
    'Access-Control-Expose-Headers': 'Location, Preference-Applied, Retry-After',
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
  return /^\s*application\/fits\s*(?:;|$)/i.test(accept ?? '') ? 'fits' : preferredFormat(accept);
}

export function listHeaders({ format, rows }: ListWritten & { readonly outcome: 'written' }): Record<string, string> {
  return {
    'Content-Type': mediaTypeOf(format),
    'Access-Control-Expose-Headers': TABLE_HEADERS,
    ...(format !== 'json' && { 'Content-Disposition': dispositionOf('sample', format) }),
    'X-Row-Count': `${rows}`,
  };
}
