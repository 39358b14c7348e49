import type { Budget } from '../base/budget.ts';
import type { Service } from '../service/service.ts';

/** The data and the limits for a tool's answer. */
export interface ToolContext {
  readonly service: Service;
  readonly budget: Budget;
  /** The name under which the caller's calls are counted. */
  readonly client: string;
  /** Scheme and host of the API, without a slash at the end. */
  readonly base: string;
}
