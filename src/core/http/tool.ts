/** The tools of the chat connector, which capabilities add at `/mcp/archive`. */
import type { Asker } from '../answers/admission.ts';
import type { SentObject } from '../base/json_reader.ts';
import type { Config } from '../config/config.ts';
import type { Service } from '../service/service.ts';

/** The data and the limits for a tool's answer. */
export interface ToolContext extends Asker {
  readonly service: Service;
  /** Scheme and host of the API, without a slash at the end. */
  readonly base: string;
}

/**
 * Runs a tool with its checked arguments, and resolves to the text of the answer.
 * @throws ApiError, TooExpensive, Unavailable
 */
export type ToolRun = (context: ToolContext) => Promise<string>;

export interface Tool<C extends Config = Config> {
  /** Whether the service offers the tool; by default yes. */
  isOffered?(config: C): boolean;
  describe(config: C): string;
  /** JSON Schemas of the arguments; none by default. */
  properties?(config: C): Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
  /** Whether an argument that is not in `properties` is an error. The tools of the public service ignore others. */
  readonly refusesOthers?: boolean;
  /** JSON Schema of the answer. With it, the answer also contains `structuredContent`. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /**
   * Checks the arguments.
   * @throws ApiError
   */
  prepare(args: SentObject, service: Pick<Service, 'config' | 'catalogs'>): ToolRun;
}

export interface NamedTool<C extends Config = Config> extends Tool<C> {
  readonly name: string;
  readonly title: string;
}
