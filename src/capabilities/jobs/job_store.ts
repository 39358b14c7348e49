/**
 * Stores jobs in the data directory, one directory per job: the job itself and its request as JSON, the body of the
 * request, and its result. Every process that uses the data directory can read them. Only the process that holds a job
 * changes it.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flush, isThere, makeDirectory } from '../../core/base/files.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import type { Job, JobRequest } from './job.ts';

const DIRECTORY = 'jobs';
/** 160 bits. */
const ID_BYTES = 20;
const ID = /^[0-9a-f]{40}$/;
const [JOB_FILE, REQUEST_FILE, PROGRESS_FILE] = ['job.json', 'request.json', 'progress.json'];

export class JobStore {
  readonly #directory: string;

  constructor(dataDir: string) {
    this.#directory = join(dataDir, DIRECTORY);
  }

  /** Stores a new job under an unguessable name. */
  create(job: Omit<Job, 'id'>, request: JobRequest): Job {
    const created = { ...job, id: randomBytes(ID_BYTES).toString('hex') };
    makeDirectory(join(this.#directory, created.id));
    try {
      this.setRequest(created.id, request);
      this.write(created);
    } catch (error) {
      // A directory without a job would never be removed.
      this.remove(created.id);
      throw error;
    }
    return created;
  }

  /** Replaces a job, durably. */
  write(job: Job): void {
    this.#replace(job.id, JOB_FILE, job);
    flush(this.#path(job.id));
  }

  /** The job; undefined if it does not exist, or its file is not valid JSON. */
  read(id: string): Job | undefined {
    return this.#json<Job>(id, JOB_FILE);
  }

  /** The request of a job; undefined like a job. */
  request(id: string): JobRequest | undefined {
    return this.#json<JobRequest>(id, REQUEST_FILE);
  }

  /** Replaces the request of a job. The next `write` makes that durable. */
  setRequest(id: string, { request, parameters }: JobRequest): void {
    this.#replace(id, REQUEST_FILE, { request, parameters });
  }

  /** The body of a job's request. */
  inputPath(id: string): string {
    return join(this.#path(id), 'input');
  }

  /** The path of the answer to a job's request. The file appears when it is complete. */
  resultPath(id: string): string {
    return join(this.#path(id), 'result');
  }

  progress(id: string): RowProgress | undefined {
    return this.#json<RowProgress>(id, PROGRESS_FILE);
  }

  /** Replaces the progress of a job, if the job still exists. */
  noteProgress(id: string, progress: RowProgress): void {
    try {
      if (this.read(id)) this.#replace(id, PROGRESS_FILE, progress);
    } catch {
      // If the disk is full, writing the result will report that.
    }
  }

  remove(id: string): void {
    rmSync(this.#path(id), { recursive: true, force: true });
  }

  all(): Job[] {
    if (!isThere(this.#directory)) return [];
    return readdirSync(this.#directory).flatMap(id => this.read(id) ?? []);
  }

  /** The bytes of all files of all jobs, or of one job. */
  bytes(id?: string): number {
    const directory = id === undefined ? this.#directory : this.#path(id);
    if (!isThere(directory)) return 0;
    let bytes = 0;
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
    return bytes;
  }

  #path(id: string): string {
    if (!ID.test(id)) throw new RangeError(`Cannot find the job ${id}: it is not a valid job name`);
    return join(this.#directory, id);
  }

  /** A concurrent reader sees either the old file or the new one. */
  #replace(id: string, name: string, value: unknown): void {
    const path = join(this.#path(id), name);
    const partial = `${path}.${process.pid}.part`;
    writeFileSync(partial, JSON.stringify(value), { flush: true, mode: 0o600 });
    renameSync(partial, path);
  }

  #json<T>(id: string, name: string): T | undefined {
    if (!ID.test(id)) return undefined;
    try {
      return JSON.parse(readFileSync(join(this.#directory, id, name), 'utf8')) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }
}
