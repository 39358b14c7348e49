/** What the workloads share: options, medians, the table. */

export interface Options {
  readonly points: number;
  readonly queries: number;
  readonly seed: number;
  /** Passes of each side; medians are reported. */
  readonly runs: number;
  /** How long a load that is to last lasts. */
  readonly seconds: number;
  /** A directory that `skyref gen` wrote, in place of the built-in skies. */
  readonly sky: string | undefined;
}

export interface Report {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Workload {
  readonly name: string;
  readonly summary: string;
  run(options: Options, note: (text: string) => void): Report | Promise<Report>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which a share `q` (0 to 1) of them lies: the nearest rank. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;
}

export function ratio(value: number): string {
  return `${value.toFixed(2)}x`;
}

/** Columns padded; the first to the left, the others to the right. */
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
