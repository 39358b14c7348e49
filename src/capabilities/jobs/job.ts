/** A request that is answered later, as a job of the Universal Worker Service (UWS 1.1). */

/** UWS 1.1, section 2.1.3. */
export const PHASES = ['PENDING', 'QUEUED', 'EXECUTING', 'COMPLETED', 'ERROR', 'ABORTED'] as const;
export type Phase = (typeof PHASES)[number];
/** The phases of UWS that no job has here. */
export const OTHER_PHASES = ['HELD', 'SUSPENDED', 'UNKNOWN', 'ARCHIVED'] as const;

/** Times are milliseconds since 1970. */
export interface Job {
  /** Unguessable, because anyone who knows it may see the job and abort it. */
  readonly id: string;
  /** The kind of request, which determines the code that runs it. */
  readonly kind: string;
  readonly phase: Phase;
  /** The process that holds the job. */
  readonly pid: number;
  /** The address of the client that sent it; the number of a client's jobs is limited. */
  readonly client: string;
  /** The mark of the session in which it was made, whose lists of jobs include it; undefined for none. */
  readonly session?: string;
  /** The maximum bytes of the request's body. */
  readonly maxInputBytes: number;
  readonly createdMs: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** When the job and all its files are removed. */
  readonly destructionMs: number;
  /** The number of starts. The job starts again after each restart of the service. */
  readonly attempts: number;
  /** The time limit in seconds, if the client has shortened it. */
  readonly runSeconds?: number;
  /** The reason, if the phase is ERROR. */
  readonly error?: string;
  readonly result?: JobResult;
}

/** The task of a job. It may be long, so it is stored in a separate file. */
export interface JobRequest {
  /** The request, as JSON values. */
  readonly request: unknown;
  /** The request, in the form shown to clients. */
  readonly parameters: Readonly<Record<string, string>>;
}

export interface JobResult {
  readonly mediaType: string;
  readonly bytes: number;
  /** The values for the headers of its answer, as JSON values. */
  readonly about: unknown;
}

export function isOver(phase: Phase): boolean {
  return phase === 'COMPLETED' || phase === 'ERROR' || phase === 'ABORTED';
}
