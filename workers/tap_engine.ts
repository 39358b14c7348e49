/** The entry of the process that runs queries in ADQL. */
import { runEngine } from '../src/tap/engine_process.ts';

runEngine();
