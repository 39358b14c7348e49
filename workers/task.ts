/** The entry of a thread that runs tasks. */
export { runTask as default } from '../src/core/pool/run_task.ts';
