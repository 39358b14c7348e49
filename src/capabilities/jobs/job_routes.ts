/** Jobs in the form of the Universal Worker Service (UWS 1.1, section 2.2): the resources of one kind of job. */

import { setTimeout as sleep } from 'node:timers/promises';
import type { Kind } from '../../core/contract/kind.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { ApiError, methodNotAllowed, notFound } from '../../core/http/errors.ts';
import type { Exchange, Resource } from '../../core/http/exchange.ts';
import { readBytes } from '../../core/http/json_body.ts';
import { inUpperCase, optional, pairsOf, parameterOf, parseSearch, type Search } from '../../core/http/params.ts';
import {
  type Answer,
  emptyResponse,
  isPreflight,
  preflightResponse,
  streamedResponse,
  textResponse,
  xmlResponse,
} from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { fileStream } from '../uploads/part_stream.ts';
import { JOBS } from './channel.ts';
import { isOver, type Job, type JobRequest, type JobResult } from './job.ts';
import type { JobResource } from './job_documents.ts';
import type { JobStep } from './job_queue.ts';
import { beginJobSession, jobSession } from './job_session.ts';
import { JobStore } from './job_store.ts';
import { JOB_CHANGES, JOB_LIST_PARAMETERS, JOB_PARAMETERS, NEW_JOB_PARAMETERS } from './parameters.ts';
import { RepeatedRefusals } from './repeated_refusals.ts';
import { jobDocument, jobsDocument, parametersDocument, RESULT, resultsDocument, timeText } from './uws.ts';

const MAX_FORM_BYTES = 65_536;
const LOOK_MS = 250;
/** The maximum number of characters of a job's parameters together: more than the longest query. */
const MAX_PARAMETER_CHARACTERS = 262_144;

export interface JobList {
  /** The path of the list of jobs. */
  readonly base: string;
  readonly kind: string;
  headersOf(result: JobResult): Readonly<Record<string, string>>;
  /** The answer that tells why a job failed. */
  readonly errorAnswer?: (message: string) => Answer;
  /**
   * Set for jobs that clients create here, and start after setting their parameters. Other jobs start as soon as they
   * are created.
   */
  readonly made?: {
    /** Reads the parameters in a request, and the job's input. */
    parametersOf(exchange: Exchange): Promise<Sent>;
    /**
     * The job's request with these parameters.
     * @param base scheme and host of this service
     */
    requestOf(parameters: Search, base: string): unknown;
  };
}

interface Sent {
  readonly parameters: Search;
  /** A file, which is moved to the job or removed. */
  readonly input?: { readonly bytes: number; moveTo(path: string): void; remove(): void };
}

/** The resources of jobs, for all methods. */
export function jobRoutes(service: Service, kind: JobList): readonly Resource[] {
  const jobs = new Jobs(service, kind);
  const { base } = kind;
  const all = { method: 'ANY', metric: 'jobs' } as const;
  return [
    { ...all, path: base, handler: exchange => jobs.list(exchange) },
    { ...all, path: `${base}/:id`, handler: exchange => jobs.answer(exchange, '') },
    { ...all, path: `${base}/:id/:part`, handler: exchange => jobs.answer(exchange, exchange.params.part!) },
    { ...all, path: `${base}/:id/results/:name`, handler: exchange => jobs.result(exchange) },
  ];
}

class Jobs {
  readonly #service: Service;
  readonly #store: JobStore;
  readonly #kind: JobList;
  /** The next check of each job that clients wait for. */
  readonly #looks = new Map<string, Promise<Job | undefined>>();
  /** Refuses a client that keeps retrying too early, before its request is read. */
  readonly #refusals = new RepeatedRefusals();

  constructor(service: Service, kind: JobList) {
    this.#service = service;
    this.#store = new JobStore(service.config.NEARSKY_DATA);
    this.#kind = kind;
  }

  async list(exchange: Exchange): Promise<Answer> {
    const { method, request } = exchange;
    const { made } = this.#kind;
    const allow = made ? `${READING}, POST` : READING;
    if (isPreflight(request)) return preflightResponse(request, allow);
    if (isReading(method)) return this.#list(exchange);
    if (method !== 'POST' || !made) throw methodNotAllowed(method, allow);
    return await this.#refusals.run(exchange.client, async () =>
      this.#make(exchange, await made.parametersOf(exchange)),
    );
  }

  /** The jobs of the request's session, the newest first (UWS 1.1, section 2.2.2.1). */
  #list(exchange: Exchange): Answer {
    const session = jobSession(exchange);
    const search = inUpperCase([...exchange.search].filter(([, value]) => value !== ''));
    const { AFTER, LAST, PHASE } = JOB_LIST_PARAMETERS;
    const after = optional(search, 'AFTER', AFTER.kind) ?? Number.NEGATIVE_INFINITY;
    const last = optional(search, 'LAST', LAST.kind);
    // PHASE may be repeated.
    const phases = Array.from(pairsOf(new URL(exchange.url).search.slice(1)), ([name, value]) =>
      name.toUpperCase() === 'PHASE' && value !== '' ? parameterOf(PHASE.kind, 'PHASE', value) : undefined,
    ).filter(phase => phase !== undefined);
    const all = session === undefined ? [] : this.#store.all();
    const wanted = all.filter(
      job =>
        job.kind === this.#kind.kind &&
        job.session === session &&
        job.createdMs > after &&
        (phases.length === 0 || phases.includes(job.phase)),
    );
    const newest = wanted.sort((a, b) => b.createdMs - a.createdMs).slice(0, last);
    return xml(
      jobsDocument(
        newest.map(job => ({ job, parameters: this.#parametersOf(job), address: this.#address(exchange, job) })),
      ),
    );
  }

  async #make(exchange: Exchange, sent: Sent): Promise<Answer> {
    const { input } = sent;
    try {
      const parameters = new Map(sent.parameters);
      const phase = parameters.get('PHASE');
      parameters.delete('PHASE');
      const duration = parameters.get('EXECUTIONDURATION');
      parameters.delete('EXECUTIONDURATION');
      const runSeconds =
        duration === undefined
          ? undefined
          : parameterOf(JOB_CHANGES.EXECUTIONDURATION.kind, 'EXECUTIONDURATION', duration);
      if (phase !== undefined) parameterOf(NEW_JOB_PARAMETERS.PHASE.kind, 'PHASE', phase);
      requireShort(parameters);
      const client = exchange.client;
      const { mark: session, headers } = beginJobSession(exchange, this.#origin(exchange));
      const { kind } = this.#kind;
      const create = { kind, client, session, request: null, parameters: Object.fromEntries(parameters) };
      const job = await this.#ask(exchange, { step: 'create', ...create, bytes: input?.bytes ?? 0 });
      input?.moveTo(this.#store.inputPath(job!.id));
      if (runSeconds !== undefined) await this.#ask(exchange, { step: 'set', id: job!.id, runSeconds });
      if (phase) await this.#run(exchange, job!, parameters);
      return this.#seeOther(exchange, job!, headers);
    } finally {
      input?.remove();
    }
  }

  async #run(exchange: Exchange, { id }: Job, parameters: Search): Promise<void> {
    const request = this.#kind.made?.requestOf(parameters, this.#origin(exchange));
    await this.#ask(exchange, { step: 'run', id, ...(request !== undefined && { request }) });
  }

  async answer(exchange: Exchange, part: string): Promise<Answer> {
    if (isPreflight(exchange.request)) return preflightResponse(exchange.request, `${READING}, POST, DELETE`);
    const job = this.#job(exchange);
    const { method } = exchange;
    if (isReading(method)) return await this.#read(exchange, job, part);
    if (method === 'DELETE' && part === '') return await this.#remove(exchange, job);
    if (method !== 'POST')
      throw methodNotAllowed(method, part === '' ? `${READING}, POST, DELETE` : `${READING}, POST`);
    if (part === 'parameters' && this.#kind.made)
      return await this.#refusals.run(exchange.client, async () =>
        this.#setParameters(exchange, await this.#kind.made!.parametersOf(exchange)),
      );
    const bytes = await readBytes(exchange.request, exchange.budget, MAX_FORM_BYTES);
    const form = inUpperCase(parseSearch(Buffer.from(bytes).toString('utf8')));
    return await this.#change(exchange, job, part, form);
  }

  async #setParameters(exchange: Exchange, { parameters, input }: Sent): Promise<Answer> {
    try {
      // The job may have started while the request arrived.
      const job = this.#job(exchange);
      requireShort(new Map([...this.#parametersOf(job), ...parameters]));
      if (job.phase === 'PENDING') input?.moveTo(this.#store.inputPath(job.id));
      return await this.#set(exchange, job, { parameters: Object.fromEntries(parameters) });
    } finally {
      input?.remove();
    }
  }

  async result(exchange: Exchange): Promise<Answer> {
    const job = this.#job(exchange);
    if (!isReading(exchange.method)) throw methodNotAllowed(exchange.method, READING);
    if (exchange.params.name !== RESULT) throw notFound(exchange.path);
    if (!job.result) throw withoutResult(job);
    const headers = { ...this.#kind.headersOf(job.result), 'Content-Length': `${job.result.bytes}` };
    if (exchange.method === 'HEAD') return emptyResponse(200, headers);
    return streamedResponse(headers, await fileStream(this.#store.resultPath(job.id)));
  }

  #job({ params, path }: Exchange): Job {
    const job = this.#store.read(params.id!);
    if (job?.kind !== this.#kind.kind) throw notFound(path);
    return job;
  }

  async #read(exchange: Exchange, job: Job, part: string): Promise<Answer> {
    const address = this.#address(exchange, job);
    const resource = part as JobResource | '';
    switch (resource) {
      case '':
        return this.#document(exchange, await this.#waited(inUpperCase(exchange.search), job));
      case 'phase':
        return plain(job.phase);
      case 'executionduration':
        return plain(`${this.#runSeconds(job)}`);
      case 'destruction':
        return plain(timeText(job.destructionMs));
      case 'quote':
      case 'owner':
        return plain('');
      case 'error':
        return (job.error !== undefined && this.#kind.errorAnswer?.(job.error)) || plain(job.error ?? '');
      case 'parameters':
        return xml(parametersDocument(this.#parametersOf(job)));
      case 'results':
        return xml(resultsDocument(job, address));
      default:
        resource satisfies never;
        throw notFound(exchange.path);
    }
  }

  async #change(exchange: Exchange, job: Job, part: string, form: Search): Promise<Answer> {
    const sent = <T>(name: string, kind: Kind<T>) => parameterOf(kind, name, form.get(name) ?? '');
    if (part === '' && form.get('ACTION') === 'DELETE') return await this.#remove(exchange, job);
    if (part === 'phase') {
      if (isOver(job.phase)) throw isPast(job);
      if (sent('PHASE', JOB_CHANGES.PHASE.kind) === 'ABORT') await this.#ask(exchange, { step: 'abort', id: job.id });
      else if (this.#kind.made) await this.#run(exchange, job, this.#parametersOf(job));
    } else if (part === 'destruction') {
      await this.#ask(exchange, {
        step: 'keep',
        id: job.id,
        destructionMs: sent('DESTRUCTION', JOB_CHANGES.DESTRUCTION.kind),
      });
    } else if (part === 'executionduration') {
      return await this.#set(exchange, job, {
        runSeconds: sent('EXECUTIONDURATION', JOB_CHANGES.EXECUTIONDURATION.kind),
      });
    } else
      throw new ApiError('invalid_parameter', 'Cannot change this part of a job: send PHASE=ABORT to phase, or DELETE');
    return this.#seeOther(exchange, job);
  }

  /** Changes a job that has not started. */
  async #set(
    exchange: Exchange,
    job: Job,
    change: Pick<Job, 'runSeconds'> & { parameters?: JobRequest['parameters'] },
  ) {
    const changed = await this.#ask(exchange, { step: 'set', id: job.id, ...change });
    if (changed && changed.phase !== 'PENDING') throw isPast(changed);
    return this.#seeOther(exchange, job);
  }

  async #remove(exchange: Exchange, job: Job): Promise<Answer> {
    await this.#ask(exchange, { step: 'remove', id: job.id });
    this.#refusals.forget(exchange.client);
    return emptyResponse(303, { Location: `${this.#origin(exchange)}${this.#kind.base}` });
  }

  async #ask(exchange: Exchange, step: JobStep): Promise<Job | null> {
    return await this.#service.coordination.ask(JOBS, { client: exchange.client, step }, exchange.budget);
  }

  #parametersOf({ id }: Job): Search {
    return new Map(Object.entries(this.#store.request(id)?.parameters ?? {}));
  }

  /** Returns the job once it has left the phase that the client named, or when the time is over. */
  async #waited(search: Search, job: Job): Promise<Job> {
    const seconds = optional(search, 'WAIT', JOB_PARAMETERS.WAIT.kind) ?? JOB_PARAMETERS.WAIT.default;
    const endMs = performance.now() + 1000 * seconds;
    const from = search.get('PHASE') ?? job.phase;
    let seen = job;
    while (seen.phase === from && !isOver(seen.phase) && performance.now() < endMs && !this.#service.isStopping) {
      seen = (await this.#seenLater(job.id)) ?? { ...seen, phase: 'ABORTED' };
    }
    return seen;
  }

  /** The job after a while. All requests that wait for it share one check. */
  #seenLater(id: string): Promise<Job | undefined> {
    let look = this.#looks.get(id);
    if (!look) {
      look = sleep(LOOK_MS).then(() => {
        this.#looks.delete(id);
        return this.#store.read(id);
      });
      this.#looks.set(id, look);
    }
    return look;
  }

  #document(exchange: Exchange, job: Job): Answer {
    const jobs = this.#store;
    const progress = job.phase === 'EXECUTING' ? jobs.progress(job.id) : undefined;
    const parameters = this.#parametersOf(job);
    return xml(jobDocument(job, parameters, this.#address(exchange, job), this.#runSeconds(job), progress));
  }

  #seeOther(exchange: Exchange, job: Job, headers: Readonly<Record<string, string>> = {}): Answer {
    return emptyResponse(303, { Location: this.#address(exchange, job), ...headers });
  }

  #address(exchange: Exchange, { id }: Job): string {
    return `${this.#origin(exchange)}${this.#kind.base}/${id}`;
  }

  #origin({ request }: Exchange): string {
    return baseUrl(request, this.#service.config);
  }

  #runSeconds({ runSeconds }: Job): number {
    return runSeconds ?? this.#service.config.JOBS_SECONDS;
  }
}

/** @throws ApiError */
function requireShort(parameters: Search): void {
  const characters = Array.from(parameters, ([, { length }]) => length).reduce((sum, length) => sum + length, 0);
  if (characters <= MAX_PARAMETER_CHARACTERS) return;
  throw new ApiError(
    'invalid_parameter',
    `Cannot store the parameters of the job because they have ${characters} characters together: send at most ${MAX_PARAMETER_CHARACTERS}`,
  );
}

function isPast({ phase }: Job): ApiError {
  return new ApiError('invalid_parameter', `Cannot change this part of a job that is ${phase}: send a new job`);
}

function withoutResult({ phase, error }: Job): ApiError {
  const why = isOver(phase) ? (error ?? 'send a new job') : 'it is at this path once its phase is COMPLETED';
  return new ApiError('not_found', `Cannot find the result of a job that is ${phase}: ${why}`);
}

/** The methods that read, as the `Allow` header names them. */
const READING = 'GET, HEAD';

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

const plain = (text: string) => textResponse('text/plain', text);

function xml(text: string): Answer {
  return xmlResponse(text, { 'Cache-Control': 'no-store' });
}
