/** The parts of the document that all operations share: headers, errors and components. */

import { LOG_POSITION_HEADER, UNKNOWN_PARAMETERS_HEADER } from '../../core/contract/headers.ts';
import {
  ALWAYS,
  COMPRESSED,
  ERRORS,
  HEADERS,
  ignoredHeader,
  OF_REQUESTS,
  OF_SERVER,
} from '../../core/documents/openapi/general.ts';
import type { Paths } from '../../core/documents/openapi/parameters.ts';
import type { Schema, Schemas } from '../../core/documents/openapi/schema.ts';

const headerRefs = (headers: Schemas): Schemas =>
  Object.fromEntries(
    Object.entries(headers).map(([name, one]) => [
      name,
      HEADERS[name] === one ? { $ref: `#/components/headers/${name}` } : one,
    ]),
  );

function whole(status: number, response: Schema, ignored: Schemas): Schema {
  const { description, headers = {}, content, ...rest } = response;
  const isLong = status === 200 && content !== undefined && !Object.hasOwn(content as Schema, 'text/event-stream');
  const all = { ...(headers as Schemas), ...(status !== 200 && ignored), ...(isLong && COMPRESSED), ...ALWAYS };
  return { description, headers: headerRefs(all), ...(content !== undefined && { content }), ...rest };
}

const LOG_POSITION = {
  name: LOG_POSITION_HEADER,
  in: 'header',
  required: false,
  description: 'The last `X-Log-Position` that the client received, for services with several nodes.',
  schema: { type: 'string' },
} as const;

const COMPONENTS = new Map<Schema, string>(Object.entries(ERRORS).map(([name, response]) => [response, name]));

/** Adds the general parts to the operations. */
export function withGeneralParts(paths: Paths): Paths {
  const each = (path: string, { parameters = [], responses, neverFails, ...rest }: Paths[string][string]) => {
    const ignored = UNKNOWN_PARAMETERS_HEADER in ((responses[200]?.headers ?? {}) as Schemas) ? ignoredHeader : {};
    // A path segment that contains an encoded slash matches no parameter.
    const general = neverFails ? OF_REQUESTS : path.includes('{') ? { ...OF_SERVER, 404: ERRORS.NotFound } : OF_SERVER;
    const all = Object.entries({ ...general, ...responses }).map(([status, response]) => {
      const component = COMPONENTS.get(response);
      return [status, component ? { $ref: `#/components/responses/${component}` } : whole(+status, response, ignored)];
    });
    return { ...rest, parameters: [...parameters, LOG_POSITION], responses: Object.fromEntries(all) };
  };
  return mapValues(paths, (methods, path) => mapValues(methods, operation => each(path, operation)));
}

function mapValues<T, U>(object: Readonly<Record<string, T>>, change: (value: T, key: string) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]));
}

const RESPONSES = mapValues(ERRORS, (response, name) =>
  whole(0, response, name.startsWith('Tap') ? {} : ignoredHeader),
);

/** The components that operations refer to: shared headers, and those errors that the operations have. */
export function generalComponents(paths: Paths) {
  const responses = Object.values(paths).flatMap(methods =>
    Object.values(methods).map(operation => operation.responses),
  );
  const referred = new Set(responses.flatMap(each => Object.values(each).map(({ $ref }) => $ref)));
  const isUsed = ([name]: [string, Schema]) => referred.has(`#/components/responses/${name}`);
  return { headers: HEADERS, responses: Object.fromEntries(Object.entries(RESPONSES).filter(isUsed)) };
}
