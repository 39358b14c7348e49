/** The entry of a thread that serves. */
export { runServer as default } from '../src/server/server_thread.ts';
