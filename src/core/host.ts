/**
 * What a capability is, and what the core gives to it. The core imports no capability: `src/capabilities.ts` lists
 * them, and the entries of programs and threads pass the list on.
 */

import type { AnswerWriter } from './answers/queries.ts';
import type { BesideWriter } from './background/beside_writer.ts';
import type { Budget } from './base/budget.ts';
import type { Channel } from './base/channel.ts';
import type { ClientAdmission } from './base/client_admission.ts';
import type { Counter } from './base/counts.ts';
import type { Log } from './base/log.ts';
import type { SharedState } from './base/shared_state.ts';
import type { CommandTable } from './cli/command.ts';
import type { Config, OwnSettings } from './config/config.ts';
import type { RowProgress } from './contract/row_progress.ts';
import type { DescribedLimits } from './documents/limits.ts';
import type { DescribedOperation, Documented } from './documents/operations.ts';
import type { PublishedGeneration } from './generations/tasks.ts';
import type { Handler, Resource } from './http/exchange.ts';
import type { NamedTool } from './http/tool.ts';
import type { Exposition } from './metrics/exposition.ts';
import type { Measured } from './metrics/measured.ts';
import type { Service } from './service/service.ts';

/**
 * A part of the service that is removed by deleting its folder. Every command loads this object, so it is small: its
 * functions load the rest when it is needed.
 */
export interface Capability {
  /** The name of its folder. */
  readonly name: string;
  /** The names of the capabilities that it needs. It may import files of these, and of no others. */
  readonly needs?: readonly string[];
  /** Its own settings, which are loaded, bounded and documented like those of the core. */
  readonly settings?: OwnSettings;
  /** What a user can type after `nearsky`, listed with the commands of the core. */
  readonly commands?: CommandTable;
  /** What it answers over HTTP, loaded in each serving thread. */
  readonly serve?: () => Promise<Served>;
  /** What exists once per process, loaded in the main thread of a service. */
  readonly main?: () => Promise<{ readonly part: PartOf }>;
  readonly background?: Background;
  readonly duties?: readonly DutyOf[];
  /** Its counters for `/metrics`, which serving threads increase with `Service.count`. */
  readonly counters?: readonly Counter[];
}

/** Work of the writer thread of `serve`. Of several nodes that share a log, one at a time does it. */
export interface DutyOf {
  /** The name of its lease in the log. */
  readonly name: string;
  /** A path from the root without an extension. The module's task `duty` gets a `DutyTask` and returns the work. */
  readonly module: string;
  /** `--no-NAME` leaves it out; `doing` says what, in the help of that option. Without it, settings alone decide. */
  readonly option?: { readonly name: string; readonly doing: string };
  /** Sentences for the description of `serve`. */
  readonly about?: string;
  /** @throws ConfigError if the settings cannot be used */
  readonly isWanted: (config: Config) => boolean;
}

/**
 * Work that `serve` does beside answering, on each node; a part of it may run in the writer thread (`WriterLink`). The
 * option `--no-NAME`, with the capability's name, leaves it out.
 */
export interface Background {
  /** What is left out: a word for the help of that option, such as `publishing`. */
  readonly doing: string;
  /** A sentence for the description of `serve`. */
  readonly about: string;
  readonly load: () => Promise<{ readonly background: BackgroundOf }>;
}

/**
 * Makes the work, before anything is opened; undefined if the settings ask for none.
 * @throws ConfigError if they cannot be used
 */
export type BackgroundOf = (config: Config) => BesideWriter | undefined;

export type { Resource };

export type Operations = readonly Operation[];

export interface Served {
  readonly operations?: Operations;
  /** Called once per serving thread. */
  readonly resources?: (service: Service, api: Api) => readonly Resource[];
  /** Documents those resources, each of which may answer several methods. */
  readonly documented?: Documented['documented'];
  /** Its components of the OpenAPI document, to which its operations refer by name. */
  readonly schemas?: Documented['schemas'];
  /** How to set up programs that use it, for the documents. `base` is the scheme and host, without a slash at the end. */
  readonly setup?: Documented['setup'];
  /** Tools for chat assistants at `/mcp/archive`, after those of the archive. */
  readonly tools?: readonly NamedTool[];
  /** Its limits on requests, for the description of the service. */
  readonly limits?: DescribedLimits;
  /** Its entries in VOSI's list of capabilities, as XML. `base` is the scheme and host of the service. */
  readonly vosiCapability?: (config: Config, base: string) => string;
  /** The limits on request bodies, by the beginning of their path. All other bodies are short JSON. */
  readonly bodies?: (config: Config) => readonly BodyLimits[];
  /** Loads the writers of answers in formats other than JSON, by the names of the formats. */
  readonly writers?: Readonly<Record<string, () => Promise<AnswerWriter>>>;
  /** Answers all other paths. Only one capability may have it. */
  readonly elsewhere?: (service: Service) => Handler;
}

export interface BodyLimits {
  /** How the paths begin. */
  readonly path: string;
  /** A longer body is refused by its Content-Length. Whoever reads the body counts its bytes, too. */
  readonly maxBytes: number;
  /** The maximum number of bytes that are held in memory while the body arrives; 0 or more. */
  readonly maxHeldBytes: number;
  /** How long a client may wait for the first or next bytes of an answer, seconds; undefined if that is not long. */
  readonly maxWaitSeconds?: number;
}

/** An address, with its description and its handler. */
export interface Operation extends DescribedOperation {
  /** The name under which requests are counted, if it is not `name`. */
  readonly metric?: string;
  /** Set for the operations of the service's specification: they accept only the method that it names, and no HEAD. */
  readonly isSpecified?: true;
  /** Set if answers do not depend on the objects, so that they never wait for a position in the log. */
  readonly isWithoutObjects?: true;
  /** Called once per serving thread. */
  readonly handler: (service: Service, api: Api) => Handler;
}

/** Everything that can be asked over HTTP, and its documents: the sum over the capabilities. */
export interface Api extends Documented {
  readonly operations: Operations;
  readonly counters: readonly Counter[];
  readonly tools: readonly NamedTool[];
  readonly resources: (service: Service) => readonly Resource[];
  readonly vosiCapabilities: (config: Config, base: string) => string;
  readonly bodies: (config: Config) => readonly BodyLimits[];
  readonly writers: NonNullable<Served['writers']>;
  readonly elsewhere: Served['elsewhere'];
}

/** What the main thread offers to the part of a capability that exists once per process. */
export interface MainHost {
  readonly config: Config;
  readonly log: Log;
  readonly state: SharedState;
  readonly admission: ClientAdmission;
  /** Whether a process should always wait for the next request that needs one of its own. */
  readonly hasSpareProcess: boolean;
  /** The processes that have the database open; undefined if this one cannot open it, or its files were replaced. */
  readonly livePids: () => ReadonlySet<number> | undefined;
  /** The generation that answers queries now; undefined while there is none. */
  readonly generation: () => PublishedGeneration | undefined;
  /** Used by the command that crossmatches one table. */
  readonly onProgress: ((progress: RowProgress) => void) | undefined;
  /** The state of the process, of its index and of its database. */
  readonly measure: () => Promise<Measured>;
  /**
   * Answers what serving threads ask on a channel. While the database cannot be read, they get `Unavailable` instead,
   * unless `isAlways` is set.
   */
  answer<Asked, Answer>(
    channel: Channel<Asked, Answer>,
    answer: (asked: Asked, budget: Budget) => Answer | Promise<Answer>,
    options?: { readonly isAlways?: boolean },
  ): void;
  /**
   * Answers with the number of a slot. The serving thread holds it until it releases it or ends. This works even if the
   * database cannot be read.
   */
  lend<Asked, Answer>(
    channel: Channel<Asked, Answer>,
    answer: (asked: Asked) => Answer,
    release: (slot: number) => void,
  ): void;
}

/** Makes the part. It starts nothing, because a command may only want one answer. */
export type PartOf = (host: MainHost) => Part;

/** The part of a capability that exists once per process. */
export interface Part {
  /** Begins work that no request asked for. Called when the service listens. */
  start?(): void;
  addMetrics?(exposition: Exposition): void;
  close?(): Promise<void> | void;
}
