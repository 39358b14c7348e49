/**
 * Queries in ADQL 2.1: their syntax tree, and the SQL for DuckDB that they become. It is pure: it opens, reads and runs
 * nothing.
 */
export { AdqlError, placedMessage } from './adql_error.ts';
export { FEATURES, type Feature } from './features.ts';
export { MACROS } from './geometry.ts';
export { parse } from './parser.ts';
export { intersection, type KeptRows, type PixelBounds, type TablePart } from './parts.ts';
export { type DescribedTable, tableName } from './schema.ts';
export { MAX_QUERY_LENGTH, type Translated, translate } from './translator.ts';
export { ENGINE_TYPES, FAILURE_MARK, failing, quoted, textLiteral } from './values.ts';
export { spelled } from './words.ts';
