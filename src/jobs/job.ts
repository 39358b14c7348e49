/** A request that is answered later: a job of the Universal Worker Service (UWS 1.1). */

/** UWS 1.1, section 2.1.3. */
export type Phase = 'PENDING' | 'QUEUED' | 'EXECUTING' | 'COMPLETED' | 'ERROR' | 'ABORTED';

/** Times are milliseconds since 1970. */
export interface Job {
  /** Unguessable: whoever knows it may see the job, and end it. */
  readonly id: string;
  /** The kind of request, for whoever carries it out. */
  readonly kind: string;
  readonly phase: Phase;
  /** The process that holds the job. */
  readonly pid: number;
  /** The client that sent it, by its address; the jobs of a client are bounded. */
  readonly client: string;
  /** The most bytes that the body of the request may have. */
  readonly maxInputBytes: number;
  /** The request, as JSON values. */
  readonly request: unknown;
  /** The request, as it is shown. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly createdMs: number;
  readonly startedMs?: number;
  readonly endedMs?: number;
  /** When everything of the job is removed. */
  readonly destructionMs: number;
  /** How often it has been begun: a restart of the service begins it again. */
  readonly attempts: number;
  /** The time that it may take, where the client has made that shorter, seconds. */
  readonly runSeconds?: number;
  /** The reason, where the phase is ERROR. */
  readonly error?: string;
  readonly result?: JobResult;
}

export interface JobResult {
  readonly mediaType: string;
  readonly bytes: number;
  /** The facts for the headers of its answer, as JSON values. */
  readonly about: unknown;
}

/** How far a job has come, in rows of its table. */
export interface JobProgress {
  readonly of: number;
  readonly searched: number;
  /** In the result. */
  readonly done: number;
}

/** Whether a job in this phase never changes its phase again. */
export function isOver(phase: Phase): boolean {
  return phase === 'COMPLETED' || phase === 'ERROR' || phase === 'ABORTED';
}
