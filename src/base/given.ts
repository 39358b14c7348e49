/**
 * A count in the words of a message: `1 was given`, `2 numbers were given`.
 * @param what the singular, where it is named
 */
export function given(count: number, what?: string): string {
  const noun = what === undefined ? '' : ` ${what}${count === 1 ? '' : 's'}`;
  return `${count}${noun} ${count === 1 ? 'was' : 'were'} given`;
}
