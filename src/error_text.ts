/** What was thrown, as text: nothing says that it is an Error. */

/** Its message: for the one who can mend it. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Its stack, where it has one: for the log, never for a client. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}
