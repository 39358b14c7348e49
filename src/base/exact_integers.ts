/** Revivers for `JSON.parse` by which no integer loses digits. */

/** Makes each integer literal a bigint. */
export function integersAsBigint(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number') return value;
  const source = context?.source ?? '';
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** Makes an integer literal a bigint where a double may not hold it. */
export function wideIntegersAsBigint(key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return Number.isSafeInteger(value) ? value : integersAsBigint(key, value, context);
}
