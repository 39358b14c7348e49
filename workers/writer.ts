/** The entry of the thread that writes. */
export { runWriter as default } from '../src/background/writer_thread.ts';
