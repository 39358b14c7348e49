/** The entry of a thread that writes partitions of an export. */
export { runHatsWriter as default } from '../src/hats_export/writer_thread.ts';
