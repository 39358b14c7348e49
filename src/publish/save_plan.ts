/** How far the index and its file are apart. */
export interface SaveState {
  /** Of the position table: those in the index, and those in the file that it was read from or last written to. */
  readonly rows: number;
  readonly savedRows: number;
  /** Milliseconds since the file was read or last written, and how long the last writing took. */
  readonly sinceMs: number;
  readonly tookMs: number;
}

/** A start that reads the file has to catch up with less than this share of the index, unless the index grows very fast. */
const GROWN_SHARE = 0.05;
const MIN_INTERVAL_MS = 2000;
/** A smaller growth waits so long. */
const CALM_INTERVAL_MS = 15 * 60_000;
/** What writing may take of the time of a thread and of the disk: while the index grows fast, and while it hardly does. */
const BUSY_SHARE = 0.01;
const CALM_SHARE = 0.001;

/** Whether the index should be saved now: its whole file is written each time, so that what it gained must be worth that. */
export function isSaveDue({ rows, savedRows, sinceMs, tookMs }: SaveState): boolean {
  const gained = rows - savedRows;
  if (gained <= 0) return false;
  if (gained >= GROWN_SHARE * rows && sinceMs >= Math.max(MIN_INTERVAL_MS, tookMs / BUSY_SHARE)) return true;
  return sinceMs >= Math.max(CALM_INTERVAL_MS, tookMs / CALM_SHARE);
}
