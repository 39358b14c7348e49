import type { Asker } from '../../core/answers/admission.ts';
import type { Service } from '../../core/service/service.ts';

/** The data and the limits for a tool's answer. */
export interface ToolContext extends Asker {
  readonly service: Service;
  /** Scheme and host of the API, without a slash at the end. */
  readonly base: string;
}

/**
 * Runs a tool with its checked arguments, and resolves to the text of the answer.
 * @throws ToolError, TooExpensive, Unavailable
 */
export type ToolRun = (context: ToolContext) => Promise<string>;
