/**
 * A catalog that is not what it must be: its directory, columns or types. The message says what is wrong and how to
 * mend it.
 */
export class CatalogError extends Error {
  override name = 'CatalogError';
}

/** A catalog file that cannot be read now: missing, cut short, damaged, or not permitted. Another time it may be. */
export class ReadFailure extends Error {
  override name = 'ReadFailure';
}

/** The one line that says why: of a system error the code and text, without the call and path that Node adds. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/, \w+( '.*')?$/, '') : String(error);
}
