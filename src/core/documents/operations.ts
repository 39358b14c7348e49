/** What operations say about themselves: the paths of the OpenAPI document, and allowed parameters. */
import type { Config } from '../config/config.ts';
import type { Catalogs } from '../contract/catalogs.ts';
import type { DescribedLimits } from './limits.ts';
import type { DocumentedOperation, OperationObject, Paths } from './openapi/parameters.ts';
import { namesIgnored } from './openapi/responses.ts';
import type { Schemas } from './openapi/schema.ts';

export interface DescribedOperation {
  /** Its `operationId` in the OpenAPI document. */
  readonly name: string;
  /** `ANY` if the operation checks the method itself. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'ANY';
  /** `:name` matches one segment. */
  readonly path: string;
  /** The description in the OpenAPI document; undefined if the operation is not in it. */
  readonly document?: (config: Config, catalogs: Catalogs) => OperationObject;
  /** Set if the operation describes the service and needs no arguments, so that a client can simply open it. */
  readonly isDiscovery?: true;
}

/** An operation in the document, with its place. */
export interface PlacedOperation extends DocumentedOperation {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
}

/** What the documents of a service describe. */
export interface Documented {
  readonly operations: readonly DescribedOperation[];
  /** The resources of protocols, each of which may answer several methods. */
  readonly documented: (config: Config, catalogs: Catalogs) => readonly PlacedOperation[];
  /** The schemas of capabilities, by name. */
  readonly schemas: Schemas;
  /** How to set up programs that use the service in other ways than by these operations: sentences in Markdown. */
  readonly setup: (config: Config, base: string) => readonly string[];
  /** The tools that capabilities add to those of the archive. */
  readonly tools: readonly { readonly name: string; readonly title: string }[];
  /** Whether there are pages for people. */
  readonly hasPages: boolean;
  /** The limits of requests, in the order in which they are stated. */
  readonly limits: readonly DescribedLimits[];
}

/** The operations of the API, by path and method. */
export function paths({ operations }: Documented, config: Config, catalogs: Catalogs): Paths {
  const all: Record<string, Record<string, DocumentedOperation>> = {};
  for (const { name, method, path, document } of operations) {
    if (!document) continue;
    const methods = (all[path.replace(/:(\w+)/g, '{$1}')] ??= {});
    methods[method.toLowerCase()] = { operationId: name, ...document(config, catalogs) };
  }
  return all;
}

/** The resources of protocols, by path and method. */
export function resourcePaths({ documented }: Documented, config: Config, catalogs: Catalogs): Paths {
  const all: Record<string, Record<string, DocumentedOperation>> = {};
  for (const { method, path, ...operation } of documented(config, catalogs)) (all[path] ??= {})[method] = operation;
  return all;
}

/**
 * The parameters that the query string of an operation may have. Undefined if the document does not promise that
 * answers list ignored parameters.
 */
export function queryParameters(
  { document }: Pick<DescribedOperation, 'document'>,
  config: Config,
  catalogs: Catalogs,
): ReadonlySet<string> | undefined {
  const { parameters = [], responses } = document?.(config, catalogs) ?? {};
  if (!namesIgnored(responses?.[200])) return undefined;
  return new Set(parameters.filter(parameter => parameter.in === 'query').map(({ name }) => name));
}
