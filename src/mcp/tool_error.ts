import { RETRY_AFTER_SECONDS } from '../contract/codes.ts';
import type { ApiError } from '../contract/errors.ts';

export type ToolErrorCode =
  | 'invalid_arguments'
  | 'query_too_expensive'
  | 'service_unavailable'
  | 'rate_limited'
  | 'busy';

/** A tool call that failed, in a form for the assistant (docs/contract.md, Connector). */
export class ToolError extends Error {
  override name = 'ToolError';
  readonly code: ToolErrorCode;
  /** The seconds after which the same call may succeed; undefined where it will not. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ToolErrorCode, message: string, retryAfterSeconds?: number) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  /** Keys as on the wire. */
  get wire() {
    const retryable = this.retryAfterSeconds !== undefined;
    const error = { code: this.code, message: this.message, retryable, retry_after_seconds: this.retryAfterSeconds };
    return { error };
  }
}

/** The tool's error for a query's error; undefined for an error that a tool's query cannot cause. */
export function toolErrorOf({ code, message }: ApiError): ToolError | undefined {
  switch (code) {
    case 'query_too_expensive':
      return new ToolError(
        code,
        'Cannot answer within the time budget of a request: ask for fewer identifiers or a smaller radius',
      );
    case 'service_unavailable':
      return new ToolError(code, message, RETRY_AFTER_SECONDS);
    default:
      return undefined;
  }
}
