/** The difference between the index and its file. */
export interface SaveState {
  /** Rows of the position table: in the index, and in the file that it was read from or last written to. */
  readonly rows: number;
  readonly savedRows: number;
  /** Milliseconds since the file was read or last written, and the duration of the last write. */
  readonly sinceMs: number;
  readonly tookMs: number;
}

/** At the next start the file lacks less than this share of the index, unless the index grows very fast. */
const GROWN_SHARE = 0.05;
const MIN_INTERVAL_MS = 2000;
/** A smaller growth waits this long. */
const CALM_INTERVAL_MS = 15 * 60_000;
/**
 * The share of a thread's and the disk's time that writing may take: while the index grows fast, and while it hardly
 * grows.
 */
const BUSY_SHARE = 0.01;
const CALM_SHARE = 0.001;

/** Whether the index should be saved now. Each save writes the whole file, so the growth must be worth the cost. */
export function isSaveDue({ rows, savedRows, sinceMs, tookMs }: SaveState): boolean {
  const gained = rows - savedRows;
  if (gained <= 0) return false;
  if (gained >= GROWN_SHARE * rows && sinceMs >= Math.max(MIN_INTERVAL_MS, tookMs / BUSY_SHARE)) return true;
  return sinceMs >= Math.max(CALM_INTERVAL_MS, tookMs / CALM_SHARE);
}
