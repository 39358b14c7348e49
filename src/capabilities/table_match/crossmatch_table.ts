/** POST /api/crossmatch: receives a table, and answers with the objects or sources at the positions of its rows. */

import { describeFrame, FrameError, frameOf } from '@nearsky/astrotables/frames';
import { toJson } from '@nearsky/astrotables/json';
import { Budget } from '../../core/base/budget.ts';
import { discard, flush } from '../../core/base/files.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { spoolPath } from '../../core/base/spool.ts';
import { MATCH_FORMATS, type MatchFormat } from '../../core/contract/formats.ts';
import { TABLE_BUDGET_SECONDS } from '../../core/contract/limits.ts';
import { JOBS_PATH } from '../../core/contract/table_match.ts';
import { releaseOf } from '../../core/crossmatch/provenance.ts';
import { tableParameters } from '../../core/documents/parameters.ts';
import { preferredFormat } from '../../core/http/accept.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import type { IncomingRequest } from '../../core/http/incoming.ts';
import { beginJobSession } from '../../core/http/job_session.ts';
import { invalidBody, readParts } from '../../core/http/json_body.ts';
import { fileStream } from '../../core/http/part_stream.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import { type Answer, emptyResponse, NEGOTIATED, streamedResponse, wholeResponse } from '../../core/http/respond.ts';
import { SentFile } from '../../core/http/sent_file.ts';
import { JOBS } from '../../core/jobs/channel.ts';
import type { JobStep } from '../../core/jobs/job_queue.ts';
import { JobStore } from '../../core/jobs/job_store.ts';
import type { Service } from '../../core/service/service.ts';
import { TABLE } from './channel.ts';
import { maxTableBytes } from './limits.ts';
import type { TableBegun, TableRequest } from './match_task.ts';
import { matchedHeaders } from './matched_headers.ts';
import { TABLE_JOB } from './table_jobs.ts';

const TOO_LONG = `Cannot crossmatch the table within ${TABLE_BUDGET_SECONDS} s: send it in parts, or search a smaller radius`;

export function crossmatchTable(service: Service): Handler {
  const { config, spool } = service;
  return async exchange => {
    const request = parse(exchange, service);
    const sent = new SentFile(config.NEARSKY_DATA, spool, exchange.client);
    try {
      await readParts(exchange.request, new Budget(TABLE_BUDGET_SECONDS), maxTableBytes(config), part =>
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
    const written = await coordination.ask(TABLE, { client, request, ...files }, new Budget(TABLE_BUDGET_SECONDS));
    if (!written) throw new ApiError('query_too_expensive', TOO_LONG);
    const { begun, bytes, answer } = written;
    if (begun.outcome === 'refused') throw refused(begun);
    if (begun.outcome === 'unavailable') throw new Unavailable(begun.message);
    const headers = { ...matchedHeaders(begun), Vary: NEGOTIATED };
    if (answer) return wholeResponse(headers, answer);
    spool.take(client, bytes);
    const stream = await fileStream(output, () => spool.free(client, bytes));
    return streamedResponse(headers, stream);
  } finally {
    discard(output);
  }
}

/** Makes a job from an uploaded table, and answers with the job's address. */
async function asJob(service: Service, exchange: Exchange, request: TableRequest, sent: SentFile): Promise<Answer> {
  const { coordination, config } = service;
  const jobs = new JobStore(config.NEARSKY_DATA);
  const client = exchange.client;
  const budget = () => new Budget(config.API_REQUEST_BUDGET_SECONDS);
  const ask = (step: JobStep) => coordination.ask(JOBS, { client, step }, budget());
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
  const epoch = read('epoch');
  if (epoch !== undefined && !catalog?.motion)
    throw new ApiError('invalid_parameter', 'epoch needs a catalog with proper motions in against', { param: 'epoch' });
  // Crossmatches of objects may move the sources of other catalogs; this one does not.
  const releases = provenance.catalogs.map(({ name, release }) =>
    releaseOf({ name, release }, epoch !== undefined && name === catalog?.name),
  );
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
    epoch,
    about: toJson({ provenance: { ...provenance, catalogs: releases } }),
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
