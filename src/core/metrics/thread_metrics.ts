/**
 * The counts of one serving thread, in shared memory. Only that thread writes them; any other may read them. Counting a
 * request takes a few additions. (prom-client was considered: it hashes the labels of every observation, and adds up
 * over processes but not over threads.)
 */
import { ERROR_CODES, type ErrorCode } from '../contract/codes.ts';

const MAX_OPERATIONS = 64;
const STATUSES = [200, 202, 204, 301, 400, 403, 404, 405, 500, 503] as const;
/** Upper bounds, inclusive, seconds. */
const SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10] as const;

/** Counts by upper bound, a last count for values above all bounds, and the sum of the values. */
class HistogramCells {
  readonly bounds: readonly number[];
  readonly #cells: Float64Array;

  constructor(bounds: readonly number[], cells: Float64Array) {
    this.bounds = bounds;
    this.#cells = cells;
  }

  static size(bounds: readonly number[]): number {
    return bounds.length + 2;
  }

  observe(value: number): void {
    const { bounds } = this;
    let i = 0;
    while (i < bounds.length && value > bounds[i]!) i++;
    this.#cells[i]! += 1;
    this.#cells[bounds.length + 1]! += value;
  }

  get counts(): readonly number[] {
    return [...this.#cells.subarray(0, this.bounds.length + 1)];
  }

  get sum(): number {
    return this.#cells[this.bounds.length + 1]!;
  }
}

export type { HistogramCells };

/** The counts other than those of requests, one number each. */
const NUMBERS = [
  'connections',
  'connectionsTotal',
  'connectionsEvicted',
  'openRequests',
  'waitingQueries',
  'refusedQueries',
  'streams',
  'damagedValues',
  'sourcesLeftOut',
  'valuesLeftOut',
  /** The bytes of memory that long answers have reserved. */
  'answerKib',
  /** A heartbeat that increases several times per second while the thread is alive. */
  'beats',
] as const;
type NumberName = (typeof NUMBERS)[number];

const ERRORS: readonly ErrorCode[] = ERROR_CODES.map(({ name }) => name);
/**
 * The errors that monitoring alerts watch. They are exported from 0 on, because Prometheus sees no growth in a first
 * value.
 */
const ALERTED: readonly ErrorCode[] = ['internal_error', 'query_too_expensive'];
const STATUS_COUNT = STATUSES.length + 1;
const CELLS_AN_OPERATION = STATUS_COUNT + ERRORS.length + HistogramCells.size(SECONDS);
const CELLS = NUMBERS.length + MAX_OPERATIONS * CELLS_AN_OPERATION;

export class OperationMetrics {
  readonly name: string;
  readonly seconds: HistogramCells;
  readonly #statuses: Float64Array;
  readonly #errors: Float64Array;

  constructor(name: string, cells: Float64Array) {
    this.name = name;
    this.#statuses = cells.subarray(0, STATUS_COUNT);
    this.#errors = cells.subarray(STATUS_COUNT, STATUS_COUNT + ERRORS.length);
    this.seconds = new HistogramCells(SECONDS, cells.subarray(STATUS_COUNT + ERRORS.length));
  }

  answered(status: number, seconds: number, error: ErrorCode | undefined): void {
    const at = STATUSES.indexOf(status as (typeof STATUSES)[number]);
    this.#statuses[at < 0 ? STATUSES.length : at]! += 1;
    if (error !== undefined) this.#errors[ERRORS.indexOf(error)]! += 1;
    this.seconds.observe(seconds);
  }

  /** The counts by status that are not 0. */
  statuses(): (readonly [status: string, count: number])[] {
    return named([...STATUSES.map(String), 'other'], this.#statuses).filter(([, count]) => count > 0);
  }

  /** The counts by error that are not 0, and those that monitoring alerts watch. */
  errors(): (readonly [code: ErrorCode, count: number])[] {
    return named(ERRORS, this.#errors).filter(([code, count]) => count > 0 || ALERTED.includes(code));
  }
}

function named<Name extends string>(names: readonly Name[], counts: Float64Array): (readonly [Name, number])[] {
  return names.map((name, i) => [name, counts[i]!] as const);
}

export class ThreadMetrics {
  /** The memory of the counts, for a thread that reads them, or for the successor of this thread. */
  readonly memory: SharedArrayBuffer;
  readonly operations: OperationMetrics[] = [];
  readonly #numbers: Float64Array;
  readonly #cells: Float64Array;

  constructor(memory = new SharedArrayBuffer(CELLS * Float64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#cells = new Float64Array(memory);
    this.#numbers = this.#cells.subarray(0, NUMBERS.length);
  }

  /** The sum over the threads that have the operations `names`. */
  static sum(threads: readonly ThreadMetrics[], names: readonly string[]): ThreadMetrics {
    const total = new ThreadMetrics();
    for (const name of names) total.operation(name);
    for (const thread of threads) for (let i = 0; i < CELLS; i++) total.#cells[i]! += thread.#cells[i]!;
    return total;
  }

  /** The cells of an operation. Threads with the same operations in the same order use the same cells. */
  operation(name: string): OperationMetrics {
    const known = this.operations.find(operation => operation.name === name);
    if (known) return known;
    if (this.operations.length === MAX_OPERATIONS)
      throw new RangeError(`no room for the operation ${name}: there are ${MAX_OPERATIONS} already`);
    const start = NUMBERS.length + this.operations.length * CELLS_AN_OPERATION;
    const operation = new OperationMetrics(name, this.#cells.subarray(start, start + CELLS_AN_OPERATION));
    this.operations.push(operation);
    return operation;
  }

  get(name: NumberName): number {
    return this.#numbers[NUMBERS.indexOf(name)]!;
  }

  set(name: NumberName, value: number): void {
    this.#numbers[NUMBERS.indexOf(name)] = value;
  }

  add(name: NumberName, change: number): void {
    this.#numbers[NUMBERS.indexOf(name)]! += change;
  }
}
