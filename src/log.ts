import { writeSync } from 'node:fs';

/** Writes one event, as one line. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void;

const STDERR = 2;

/**
 * One JSON object a line on standard error: `time`, `event`, then the fields. A line that cannot be written, as the disk is full or the
 * reader gone, is lost: with `process.stderr` that would end the process, or in Deno 2.9.5 all lines after it would be lost, too.
 */
export const logToStderr: Log = (event, fields) => {
  const line = `${JSON.stringify({ time: new Date().toISOString(), event, ...fields }, plainly)}\n`;
  try {
    writeSync(STDERR, line);
  } catch {
    // There is nobody to tell.
  }
};

/** For `JSON.stringify`: a bigint as its digits. */
export function plainly(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

const LINES_PER_SECOND = 20;

/**
 * Writes at most so many lines a second of each event, and then how many were left out: what goes wrong with every request must not fill the
 * disk, nor keep the thread that writes it.
 */
export function limited(log: Log, linesPerSecond = LINES_PER_SECOND, now = () => performance.now()): Log {
  const seconds = new Map<string, { startMs: number; lines: number; leftOut: number }>();
  return (event, fields) => {
    const nowMs = now();
    let second = seconds.get(event);
    if (!second || nowMs - second.startMs >= 1000) {
      if (second && second.leftOut > 0) log('left_out', { of: event, lines: second.leftOut });
      second = { startMs: nowMs, lines: 0, leftOut: 0 };
      seconds.set(event, second);
    }
    if (second.lines++ < linesPerSecond) log(event, fields);
    else second.leftOut++;
  };
}
