/** The entry of the thread that publishes. */
export { runPublisher as default } from '../src/background/publisher_thread.ts';
