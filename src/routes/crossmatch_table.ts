/** POST /api/crossmatch: receives a table, and answers with the objects or sources at the positions of its rows. */
import { rmSync } from 'node:fs';
import { describeFrame, FrameError, frameOf } from '@nearsky/astrotables/frames';
import { toJson } from '@nearsky/astrotables/json';
import { Budget } from '../base/budget.ts';
import { flush } from '../base/files.ts';
import { spoolPath } from '../base/spool.ts';
import { limitsOf } from '../config/described_limits.ts';
import { MATCH_FORMATS, type MatchFormat } from '../contract/formats.ts';
import { TABLE_BUDGET_SECONDS } from '../contract/limits.ts';
import { JOBS_PATH } from '../contract/table_match.ts';
import { tableParameters } from '../documents/parameters.ts';
import { preferredFormat } from '../http/accept.ts';
import { baseUrl } from '../http/base_url.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange, Handler } from '../http/exchange.ts';
import type { IncomingRequest } from '../http/incoming.ts';
import { beginJobSession } from '../http/job_session.ts';
import { invalidBody, readParts } from '../http/json_body.ts';
import { fileStream } from '../http/part_stream.ts';
import { readerOf } from '../http/read_parameters.ts';
import { type Answer, emptyResponse, NEGOTIATED, streamedResponse, wholeResponse } from '../http/respond.ts';
import { SentFile } from '../http/sent_file.ts';
import { matchedHeaders } from '../http/table_response.ts';
import type { JobStep } from '../jobs/job_queue.ts';
import type { Service } from '../service/service.ts';
import type { TableBegun, TableRequest } from '../table_match/match_task.ts';
import { TABLE_JOB } from '../table_match/table_jobs.ts';

const TOO_LONG = `Cannot crossmatch the table within ${TABLE_BUDGET_SECONDS} s: send it in parts, or search a smaller radius`;

export function crossmatchTable(service: Service): Handler {
  const { config, spool } = service;
  return async exchange => {
    const request = parse(exchange, service);
    const sent = new SentFile(config.NEARSKY_DATA, spool, exchange.client);
    try {
      await readParts(exchange.request, new Budget(TABLE_BUDGET_SECONDS), limitsOf(config).tables.max_bytes, part =>
        sent.add(part),
      );
      if (sent.bytes === 0) throw invalidBody('it is empty: send a table');
      const isJob = /\brespond-async\b/i.test(exchange.request.headers.get('Prefer') ?? '');
      return isJob ? await asJob(service, exchange, request, sent) : await now(service, exchange, request, sent);
    } finally {
      sent.remove();
    }
  };
}

async function now(service: Service, exchange: Exchange, request: TableRequest, sent: SentFile): Promise<Answer> {
  const { coordination, config, spool } = service;
  const client = exchange.client;
  const output = spoolPath(config.NEARSKY_DATA);
  try {
    const files = { input: sent.content(), inputBytes: sent.bytes, output, maxOutputBytes: spool.left(client) };
    const written = await coordination.ask('table', { client, request, ...files }, new Budget(TABLE_BUDGET_SECONDS));
    if (!written) throw new ApiError('query_too_expensive', TOO_LONG);
    const { begun, bytes, answer } = written;
    if (begun.outcome === 'refused') throw refused(begun);
    const headers = { ...matchedHeaders(begun), Vary: NEGOTIATED };
    if (answer) return wholeResponse(headers, answer);
    spool.take(client, bytes);
    const stream = await fileStream(output, () => spool.free(client, bytes));
    return streamedResponse(headers, stream);
  } finally {
    rmSync(output, { force: true });
  }
}

/** Makes a job from an uploaded table, and answers with the job's address. */
async function asJob(service: Service, exchange: Exchange, request: TableRequest, sent: SentFile): Promise<Answer> {
  const { coordination, config, jobs } = service;
  const client = exchange.client;
  const budget = () => new Budget(config.API_REQUEST_BUDGET_SECONDS);
  const ask = (step: JobStep) => coordination.ask('jobs', { client, step }, budget());
  const parameters = Object.fromEntries(exchange.search);
  const base = baseUrl(exchange.request, config);
  const { mark: session, headers } = beginJobSession(exchange, base);
  const job = await ask({ step: 'create', kind: TABLE_JOB, client, session, request, parameters, bytes: sent.bytes });
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
    Location: `${base}${JOBS_PATH}/${id}`,
    ...headers,
    'Preference-Applied': 'respond-async',
    'Access-Control-Expose-Headers': 'Location, Preference-Applied, Retry-After',
  });
}

/** The order of the checks is the contract's (docs/contract.md, Crossmatch of a table). */
function parse({ search, request }: Exchange, { catalogs, config, provenance }: Service): TableRequest {
  const read = readerOf(search, tableParameters(catalogs), catalogs);
  const catalog = catalogs.get(read('against'));
  const error = read('error_arcsec');
  if (error !== undefined && !catalog)
    throw new ApiError('invalid_parameter', 'error_arcsec needs a catalog in against', { param: 'error_arcsec' });
  return {
    catalog,
    radiusArcsec: read('radius_arcsec'),
    find: read('find'),
    rows: read('rows'),
    format: read('format') ?? acceptedFormat(request),
    named: { ra: read('ra'), dec: read('dec'), frame: frameParam(read('frame')) },
    columns: read('columns'),
    error,
    priorCompleteness: config.MATCH_PRIOR_COMPLETENESS,
    about: toJson({ provenance }),
  };
}

/** @throws ApiError for an unsupported frame */
function frameParam(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return describeFrame(frameOf(text));
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    throw new ApiError('invalid_parameter', `Cannot crossmatch the table because ${error.message}`, { param: 'frame' });
  }
}

/** A client that accepts anything, or JSON, gets the format of its table. */
function acceptedFormat(request: IncomingRequest): MatchFormat | undefined {
  const accept = request.headers.get('Accept');
  // FITS is checked here because no other operation has it.
  if (/^\s*application\/fits\s*(?:;|$)/i.test(accept ?? '')) return 'fits';
  const accepted = preferredFormat(accept);
  return MATCH_FORMATS.find(({ name }) => name === accepted)?.name;
}

function refused({ message, param }: TableBegun & { outcome: 'refused' }): ApiError {
  return new ApiError('invalid_parameter', `Cannot crossmatch the table because ${message}`, {
    param: param ?? 'body',
  });
}
