/** Answers to what never became a request. */
import { STATUS_CODES } from 'node:http';
import { ApiError, errorResponse } from '../http/errors.ts';

/** What to tell a client of an error of the HTTP parser; undefined where the connection is gone. */
export function refusalOf(error: Error): { readonly status: number; readonly message: string } | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: 408, message: 'Cannot wait for the rest of the request: send it faster' };
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: 431, message: 'Cannot read the request as its headers are too large: send fewer or shorter ones' };
  }
  return code.startsWith('HPE_')
    ? { status: 400, message: 'Cannot read the request as it is not HTTP/1.1' }
    : undefined;
}

/** The bytes of an answer with the body of an error, after which the connection ends. */
export function rawAnswer(status: number, message: string): string {
  const { headers, body } = errorResponse(new ApiError('invalid_parameter', message));
  const text = body as string;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...lines,
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
    '',
    text,
  ].join('\r\n');
}
