/** The query is not valid ADQL, or names something that does not exist. */
export class AdqlError extends Error {
  override name = 'AdqlError';
  /** The offset in the query, counted from 0 in UTF-16 code units. */
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** For messages, such as `3 were given`. */
export function given(count: number): string {
  return `${count} ${count === 1 ? 'was' : 'were'} given`;
}

/** The message after its position in the query: line and column, counted from 1. */
export function placedMessage(query: string, { at, message }: AdqlError): string {
  const before = query.slice(0, at).split(/\r\n|\r|\n/);
  return `Line ${before.length}, column ${before.at(-1)!.length + 1}: ${message}`;
}
