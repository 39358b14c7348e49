/** The entry of a thread that makes objects of the lines of an export. */
export { default } from '../src/transfer/import_lines.ts';
