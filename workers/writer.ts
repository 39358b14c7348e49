/** The entry of the thread that writes. */
export { runWriter as default } from '../src/writer_thread.ts';
