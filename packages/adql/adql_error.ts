/** A query that is no ADQL, or that asks for something that is not there. */
export class AdqlError extends Error {
  override name = 'AdqlError';
  /** The place in the query, counted from 0 in UTF-16 code units. */
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** A count in the words of a message. */
export function given(count: number): string {
  return `${count} ${count === 1 ? 'was' : 'were'} given`;
}

/** The message with the place in the query before it: line and column, both counted from 1. */
export function placedMessage(query: string, { at, message }: AdqlError): string {
  const before = query.slice(0, at).split(/\r\n|\r|\n/);
  return `Line ${before.length}, column ${before.at(-1)!.length + 1}: ${message}`;
}
