/** Writes one event, as one line. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void;

/** One JSON object a line on standard error: `time`, `event`, then the fields. */
export const logToStderr: Log = (event, fields) => {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), event, ...fields })}\n`);
};
