/** Makes answers to input that `node:http` rejects. */
import { METHODS, STATUS_CODES } from 'node:http';
import { latin1 } from '@nearsky/astrotables/bytes';
import { ApiError, requestTimeout, unsupportedVersion } from '../http/errors.ts';
import type { Answer } from '../http/respond.ts';

/** A request line: a method, a target, and the HTTP version. */
const REQUEST_LINE = /^([!#$%&'*+.^`|~\w-]+) (\S+) HTTP\/(\d\.\d)\r?$/;
const VERSIONS = ['1.0', '1.1'];

/** The first line of a request with a method that the HTTP parser does not know. */
export interface UnknownMethod {
  readonly method: string;
  readonly target: string;
}

/** The answer to an error of the HTTP parser; undefined if the connection is closed. */
export function refusalOf(error: Error): ApiError | UnknownMethod | undefined {
  const code = 'code' in error ? `${error.code}` : '';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return requestTimeout();
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new ApiError(
      'headers_too_large',
      'Cannot read the request because its first line and its headers are too large: send fewer or shorter ones',
    );
  }
  // HTTP/2 begins like this.
  if (code === 'HPE_PAUSED_H2_UPGRADE') return unsupportedVersion('2.0');
  if (!code.startsWith('HPE_')) return undefined;
  const [, method, target, version] = REQUEST_LINE.exec(lineOf(error)) ?? [];
  if (version !== undefined && !VERSIONS.includes(version)) return unsupportedVersion(version);
  if (version !== undefined && !METHODS.includes(method!)) return { method: method!, target: target! };
  return new ApiError('invalid_parameter', 'Cannot read the request because it is not HTTP/1.1', { param: 'request' });
}

/** The line in which the parser stopped. Not every runtime reports the reason. */
function lineOf(error: Error): string {
  const { rawPacket, bytesParsed } = error as { rawPacket?: Uint8Array; bytesParsed?: number };
  if (rawPacket === undefined || bytesParsed === undefined) return '';
  const text = latin1(rawPacket);
  const end = text.indexOf('\n', bytesParsed);
  return end < 0 ? '' : text.slice(text.lastIndexOf('\n', bytesParsed - 1) + 1, end);
}

/** The bytes of an answer, after which the connection ends. */
export function rawAnswer({ status, headers, body }: Answer): Buffer {
  const bytes = Buffer.from(body ?? '');
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...lines,
    `Content-Length: ${bytes.length}`,
    'Connection: close',
    '',
    '',
  ];
  return Buffer.concat([Buffer.from(head.join('\r\n')), bytes]);
}
