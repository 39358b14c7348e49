import { randomBytes } from 'node:crypto';
import type { Asker } from '../answers/admission.ts';
import { Budget } from '../base/budget.ts';
import type { Config } from '../config/config.ts';
import type { ErrorCode } from '../contract/codes.ts';
import { REQUEST_ID_HEADER } from '../contract/headers.ts';
import type { OperationMetrics } from '../metrics/thread_metrics.ts';
import { clientAddress, clientName } from './client_address.ts';
import type { IncomingHeaders, IncomingRequest } from './incoming.ts';
import { parseSearch, type Search } from './params.ts';
import type { Answer } from './respond.ts';

/**
 * One request on its way through the routes. The router sets `params`, and also `query`, which is not used: see
 * `search`.
 */
export class Exchange implements Asker {
  readonly request: IncomingRequest;
  readonly method: string;
  readonly url: string;
  /** The path as sent, not decoded. */
  readonly path: string;
  readonly search: Search;
  /** The time budget of the request. An operation may replace it with a longer time. */
  budget: Budget;
  /** The IP address of the connection; undefined if there is no connection. */
  readonly peerAddress: string | undefined;
  /** The operation of the path; undefined if there is none. */
  operation: OperationMetrics | undefined;
  /**
   * The parameters that the operation's query string may have; undefined if the document does not list the operation.
   */
  known: ReadonlySet<string> | undefined;
  /** The error code of an answer that is an error. */
  error: ErrorCode | undefined;
  /** The contents of the request, for the log, if its address does not show them. */
  asked: unknown;
  readonly #config: Config;
  #requestId: string | undefined;
  #client: string | undefined;
  /** Path segments by name, not decoded. */
  declare params: Readonly<Record<string, string>>;

  constructor(request: IncomingRequest, config: Config, peerAddress?: string) {
    this.budget = new Budget(config.API_REQUEST_BUDGET_SECONDS);
    this.#config = config;
    this.peerAddress = peerAddress;
    this.request = request;
    this.method = request.method;
    this.url = request.url;
    const [path, search] = pathAndSearch(request.url);
    this.path = path;
    this.search = parseSearch(search);
  }

  /** The id of the request in the log and in its response. */
  get requestId(): string {
    return (this.#requestId ??= requestIdOf(this.request.headers));
  }

  /** The name by which the client's use of limited resources is counted. */
  get client(): string {
    return (this.#client ??= clientName(clientAddress(this.request.headers, this.peerAddress, this.#config)));
  }
}

/** The path and the query string of a normalised URL, without the `?` between them. */
function pathAndSearch(url: string): readonly [path: string, search: string] {
  const start = url.indexOf('/', url.indexOf('//') + 2);
  const hash = url.indexOf('#', start);
  const end = hash < 0 ? url.length : hash;
  const mark = url.indexOf('?', start);
  return mark < 0 || mark > end ? [url.slice(start, end), ''] : [url.slice(start, mark), url.slice(mark + 1, end)];
}

/** An operation: parses, runs, responds. Its errors become error responses. */
export type Handler = (exchange: Exchange) => Answer | Promise<Answer>;

/** An address without an entry of its own in the OpenAPI document: a page, a file, or a resource of a protocol. */
export interface Resource {
  readonly method: 'GET' | 'POST' | 'ANY';
  readonly path: string;
  /** The name under which requests are counted. */
  readonly metric: string;
  readonly handler: Handler;
  /** Set if answers do not depend on the objects, so that they never wait for a position in the log. */
  readonly isWithoutObjects?: true;
}

const GOOD_ID = /^[\w.:/+=-]{1,128}$/;

/** The number of requests of this thread since it started. */
const prefix = randomBytes(6).toString('hex');
let count = 0;

/** The id of a request in the log and for its client: the client's own id, else a new one. */
function requestIdOf(headers: IncomingHeaders): string {
  const sent = headers.get(REQUEST_ID_HEADER);
  return sent !== null && GOOD_ID.test(sent) ? sent : `${prefix}-${(++count).toString(36)}`;
}
