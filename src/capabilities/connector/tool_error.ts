import { expectedErrorOf, retryAfterSecondsOf } from '../../core/http/errors.ts';

type ToolErrorCode = 'invalid_arguments' | 'query_too_expensive' | 'service_unavailable' | 'rate_limited' | 'busy';

/** A failed tool call, in a form for the assistant (docs/contract.md, Connector). */
export class ToolError extends Error {
  override name = 'ToolError';
  readonly code: ToolErrorCode;
  /** The seconds after which the same call may succeed; undefined if it will not. */
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

/** The tool's error for an error thrown during a call; undefined for an internal error. */
export function toolErrorOf(error: unknown): ToolError | undefined {
  if (error instanceof ToolError) return error;
  const expected = expectedErrorOf(error, 'ask for fewer identifiers or a smaller radius');
  switch (expected?.code) {
    case 'invalid_parameter':
      return new ToolError('invalid_arguments', expected.message);
    case 'query_too_expensive':
    case 'service_unavailable':
      return new ToolError(expected.code, expected.message, retryAfterSecondsOf(expected));
    default:
      return undefined;
  }
}
