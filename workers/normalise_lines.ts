/** The entry of a thread that normalises the lines of broker files. */
export { default } from '../src/ingest/normalise_lines.ts';
