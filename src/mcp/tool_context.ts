import type { Budget } from '../base/budget.ts';
import type { Service } from '../service/service.ts';

/** The data and the limits with which a tool answers. */
export interface ToolContext {
  readonly service: Service;
  readonly budget: Budget;
  /** The name by which the caller's calls are counted. */
  readonly caller: string;
  /** Scheme and host of the API, without a slash at the end. */
  readonly base: string;
}
