/** Shared by the workloads: options, medians, the table. */

import type { RubinOptions } from './rubin_night.ts';

export interface Options {
  readonly points: number;
  readonly queries: number;
  readonly seed: number;
  /** Passes of each side; medians are reported. */
  readonly runs: number;
  /** How long a sustained load lasts. */
  readonly seconds: number;
  /** How long a workload that watches for growth lasts. */
  readonly hours: number;
  /** A directory written by `skyref gen`, instead of the built-in skies. */
  readonly sky: string | undefined;
  readonly rubin: RubinOptions;
}

export interface Report {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly json: Readonly<Record<string, unknown>>;
  /** The faults that were found. The program then exits with status 1. */
  readonly faults?: readonly string[];
}

export interface Workload {
  readonly name: string;
  readonly summary: string;
  /** Whether the workload runs only if it is named. */
  readonly onlyByName?: boolean;
  run(options: Options, note: (text: string) => void): Report | Promise<Report>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which a share `q` (0 to 1) of the values lies: the nearest rank. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;
}

/** The slope of y over x: the median of the slopes between all pairs (Theil and Sen), which single peaks do not move. NaN of less than two. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const slopes = points.flatMap(([x, y], i) => points.slice(i + 1).map(([x2, y2]) => (y2 - y) / (x2 - x)));
  return slopes.length === 0 ? Number.NaN : median(slopes);
}

export function ratio(value: number): string {
  return `${value.toFixed(2)}x`;
}

/** Aligns columns: the first to the left, the others to the right. */
export function table({ header, rows }: Report): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map(row => row[column]?.length ?? 0)));
  return all
    .map(row =>
      row
        .map((cell, i) => (i ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/**
 * The number of rows of a CSV answer. The first cell of each row is compared with PostgreSQL's, whatever the order.
 * @throws Error if they differ
 */
export function requireSameRows(name: string, csv: Buffer, theirs: readonly (readonly (string | null)[])[]): number {
  const lines = csv.toString().trimEnd().split(/\r?\n/).slice(1);
  const [found, expected] = [lines.map(line => line.split(',', 1)[0]!), theirs.map(([first]) => `${first}`)].map(
    cells => cells.sort(),
  ) as [string[], string[]];
  const at = found.findIndex((cell, i) => cell !== expected[i]);
  if (at >= 0 || found.length !== expected.length)
    throw new Error(
      `${name}: ${found.length} rows, and ${expected.length} of PostgreSQL: ${found[at]}, ${expected[at]}`,
    );
  return found.length;
}
