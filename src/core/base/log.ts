import { writeSync } from 'node:fs';
import { bigintAsString } from '@nearsky/astrotables/json';
import { printable } from './error_text.ts';

/** Writes one event as one line. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void;

/**
 * Writes one JSON object per line: `time`, `event`, then the fields. A line that cannot be written, because the disk is
 * full or the reader has gone, is lost. With `process.stderr`, such a failure would end the process, and under Deno
 * 2.9.5 lose all later lines. Part of a failed line may have been written (Deno does not report it), so the next line
 * begins with a newline.
 */
export function logToFile(descriptor: number): Log {
  let isCutOff = false;
  return (event, fields) => {
    const line = `${printable(JSON.stringify({ time: new Date().toISOString(), event, ...fields }, bigintAsString))}\n`;
    const bytes = Buffer.from(isCutOff ? `\n${line}` : line);
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(descriptor, bytes, written);
    } catch {
      // If this fails too, there is nowhere left to report the failure.
    }
    isCutOff = written < bytes.length;
  };
}

export const logToStderr = logToFile(2);

const LINES_PER_SECOND = 20;

/**
 * Limits each event to `linesPerSecond` lines, and then logs how many lines were left out. An error that occurs in
 * every request must neither fill the disk nor keep the writing thread busy.
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

/** A log for a thread that does not write itself: `send` passes each event to the thread that writes. */
export function logTo(send: (event: string, fields: Readonly<Record<string, unknown>> | undefined) => void): Log {
  // Values that cannot be cloned are converted to text here. The log would convert them anyway.
  return (event, fields) => send(event, fields && JSON.parse(JSON.stringify(fields, bigintAsString)));
}
