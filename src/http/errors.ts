/** The one place that turns errors into responses (docs/contract.md, Errors; Time budget). */
import { toJson } from '../base/json_text.ts';
import { type CodeDefinition, ERROR_CODES, RETRY_AFTER_SECONDS } from '../contract/codes.ts';
import type { ApiError } from '../contract/errors.ts';
import { type Answer, jsonResponse } from './respond.ts';

const CODES = new Map<string, CodeDefinition>(ERROR_CODES.map(definition => [definition.name, definition]));

export function errorResponse({ code, message, details }: ApiError): Answer {
  const { status, retryable } = CODES.get(code)!;
  const { param, params, allow } = details;
  const body = toJson({ error: message, code, message, param, params, retryable });
  const headers: Record<string, string> = {};
  if (code === 'service_unavailable') headers['Retry-After'] = `${RETRY_AFTER_SECONDS}`;
  if (allow !== undefined) headers.Allow = allow;
  return jsonResponse(status, body, headers);
}
