/** Makes the tables of an archive, or brings them up to date, and ends:  follow_process.ts DIRECTORY */
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { answerOf, closed } from './support.ts';

const limits = { memoryMib: 512, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 0 };
const engine = await Engine.open({ dataDir: process.argv[2]!, ...limits });
await answerOf(engine, 'SELECT COUNT(*) AS n FROM objects');
await closed(engine);
process.exit();
