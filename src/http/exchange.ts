import { Budget } from '../query/budget.ts';
import { parseSearch, type Search } from './params.ts';

/** One request on its way through the routes. The router sets `params`, and `query`, which nobody reads: see `search`. */
export class Exchange {
  readonly request: Request;
  readonly method: string;
  readonly url: string;
  /** The path as it was sent: not decoded. */
  readonly path: string;
  readonly search: Search;
  readonly budget: Budget;
  /** The address that the connection comes from; undefined where there is no connection. */
  readonly peerAddress: string | undefined;
  /** Path segments by name, not decoded. */
  declare params: Readonly<Record<string, string>>;

  constructor(request: Request, budgetSeconds: number, peerAddress?: string) {
    this.budget = new Budget(budgetSeconds);
    this.peerAddress = peerAddress;
    this.request = request;
    this.method = request.method;
    this.url = request.url;
    const { pathname, search } = new URL(request.url);
    this.path = pathname;
    this.search = parseSearch(search.slice(1));
  }
}

/** An operation: parses, runs, responds. What it throws becomes an error response. */
export type Handler = (exchange: Exchange) => Response | Promise<Response>;
