/** Compares two strings by UTF-16 code units, or two integers. The result is negative, 0 or positive, for `sort`. */
export function compare<T extends string | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
