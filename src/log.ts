/** Writes one event, as one line. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** One JSON object a line on standard error: `time`, `event`, then the fields. */
export const logToStderr: Log = (event, fields) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields }, plainly)}\n`);
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
