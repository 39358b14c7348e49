/** A request whose body is a table: it is answered at once, or becomes a job that reads the table later. */
import { Budget } from '../../core/base/budget.ts';
import { discard, flush } from '../../core/base/files.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { TABLE_BUDGET_SECONDS } from '../../core/contract/limits.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Exchange } from '../../core/http/exchange.ts';
import { invalidBody, readParts } from '../../core/http/json_body.ts';
import { type Answer, emptyResponse, NEGOTIATED, streamedResponse, wholeResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { fileStream } from '../uploads/part_stream.ts';
import { SentFile } from '../uploads/sent_file.ts';
import { spoolOf, spoolPath } from '../uploads/spool.ts';
import { JOBS } from './channel.ts';
import type { JobStep } from './job_queue.ts';
import { beginJobSession } from './job_session.ts';
import { JobStore } from './job_store.ts';
import type { TableRefusal } from './table_task.ts';

/** What to do with a table. */
export interface TableUse {
  readonly maxBytes: number;
  /** Completes the error about an empty body: "it is empty: ...". */
  readonly wanted: string;
  /** Answers at once, within the budget. */
  answer(files: TableFiles, budget: Budget): Promise<WrittenAnswer>;
  readonly job: {
    readonly kind: string;
    /** The path of the list of these jobs. */
    readonly path: string;
    /** See `JobRequest`. */
    readonly request: unknown;
  };
}

/** A table that has arrived, and where its answer goes. */
export interface TableFiles {
  /** The name under which the table counts against the client's share. */
  readonly client: string;
  /** The table, or the path of its file. */
  readonly input: Uint8Array | string;
  readonly inputBytes: number;
  /** The path for the answer. */
  readonly output: string;
  readonly maxOutputBytes: number;
}

export interface WrittenAnswer {
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the file of the answer. */
  readonly bytes: number;
  /** The answer, if it is small. There is no file then. */
  readonly answer?: Uint8Array<ArrayBuffer> | undefined;
}

/**
 * Returns the result of reading a table, unless the table was refused.
 * @param result null if the time was not enough
 * @param does completes "Cannot ... the table"
 * @param advice what to do if the time was not enough
 * @throws ApiError, Unavailable
 */
export function requireRead<T extends { readonly outcome: string }>(
  result: T | TableRefusal | null,
  does: string,
  advice: string,
): Exclude<T, TableRefusal> {
  if (!result)
    throw new ApiError('query_too_expensive', `Cannot ${does} the table within ${TABLE_BUDGET_SECONDS} s: ${advice}`);
  const refusal = result as TableRefusal;
  if (refusal.outcome === 'refused')
    throw new ApiError('invalid_parameter', `Cannot ${does} the table because ${refusal.message}`, {
      param: refusal.param ?? 'body',
    });
  if (refusal.outcome === 'unavailable') throw new Unavailable(refusal.message);
  return result as Exclude<T, TableRefusal>;
}

/** With `Prefer: respond-async` (RFC 7240) the answer is 202, and has the address of the job. */
export async function answerTable(service: Service, exchange: Exchange, use: TableUse): Promise<Answer> {
  const sent = new SentFile(service.config.NEARSKY_DATA, spoolOf(service), exchange.client);
  try {
    await readParts(exchange.request, new Budget(TABLE_BUDGET_SECONDS), use.maxBytes, part => sent.add(part));
    if (sent.bytes === 0) throw invalidBody(`it is empty: ${use.wanted}`);
    return await answerWhole(service, exchange, use, sent);
  } finally {
    sent.remove();
  }
}

/** A table that has arrived. */
export type WholeTable = Pick<SentFile, 'bytes' | 'content' | 'moveTo'>;

/** Answers a table that has arrived, like `answerTable`. */
export async function answerWhole(
  service: Service,
  exchange: Exchange,
  use: Omit<TableUse, 'maxBytes' | 'wanted'>,
  table: WholeTable,
): Promise<Answer> {
  const isJob = /\brespond-async\b/i.test(exchange.request.headers.get('Prefer') ?? '');
  return isJob ? await asJob(service, exchange, use, table) : await now(service, exchange, use, table);
}

async function now(
  service: Service,
  { client }: Exchange,
  use: Pick<TableUse, 'answer'>,
  sent: WholeTable,
): Promise<Answer> {
  const spool = spoolOf(service);
  const output = spoolPath(service.config.NEARSKY_DATA);
  try {
    const files = { client, input: sent.content(), inputBytes: sent.bytes, output, maxOutputBytes: spool.left(client) };
    const written = await use.answer(files, new Budget(TABLE_BUDGET_SECONDS));
    const { bytes, answer } = written;
    const headers = { ...written.headers, Vary: NEGOTIATED };
    if (answer) return wholeResponse(headers, answer);
    spool.take(client, bytes);
    return streamedResponse(headers, await fileStream(output, () => spool.free(client, bytes)));
  } finally {
    discard(output);
  }
}

async function asJob(
  { coordination, config }: Service,
  exchange: Exchange,
  { job: { kind, path, request } }: Pick<TableUse, 'job'>,
  sent: WholeTable,
): Promise<Answer> {
  const jobs = new JobStore(config.NEARSKY_DATA);
  const { client } = exchange;
  const ask = (step: JobStep) =>
    coordination.ask(JOBS, { client, step }, new Budget(config.API_REQUEST_BUDGET_SECONDS));
  const parameters = Object.fromEntries(exchange.search);
  const base = baseUrl(exchange.request, config);
  const { mark: session, headers } = beginJobSession(exchange, base);
  const { id } = (await ask({ step: 'create', kind, client, session, request, parameters, bytes: sent.bytes }))!;
  try {
    sent.moveTo(jobs.inputPath(id));
    flush(jobs.inputPath(id));
  } catch (error) {
    await ask({ step: 'remove', id });
    throw error;
  }
  await ask({ step: 'run', id });
  return emptyResponse(202, {
    Location: `${base}${path}/${id}`,
    ...headers,
    'Preference-Applied': 'respond-async',
    'Access-Control-Expose-Headers': 'Location, Preference-Applied, Retry-After',
  });
}
