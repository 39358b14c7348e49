/** The entry of a thread that parses the lines of an export into objects. */
export { default } from '../src/transfer/import_lines.ts';
