/** The names that no catalog may have. */
import * as enums from './enums.ts';
import { GENERIC_FILTERS } from './filters.ts';
import { OBJECT_FIELDS } from './object_fields.ts';

const WORDS = Object.values(enums).flatMap(value =>
  Array.isArray(value) ? (value as readonly { readonly name?: unknown }[]).map(({ name }) => name) : [],
);

/** Words of the contract, of addresses, of JavaScript and of the pages' style. */
export const RESERVED_CATALOG_NAMES: ReadonlySet<unknown> = new Set([
  ...WORDS,
  ...Object.keys(OBJECT_FIELDS),
  ...GENERIC_FILTERS.map(({ name }) => name),
  'objects',
  'constructor',
  'mark',
  'point',
  'further',
  'object',
  'crossmatch',
  'matches',
  'tns',
]);
