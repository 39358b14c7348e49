/**
 * Serves the files below a directory over HTTP with ranges. One request in N (0: none) fails in one of the ways that real
 * hosts fail; each answer takes some milliseconds at least.
 */
import { everyNth, serveFiles } from '../test/core/catalogs/range_server.ts';

const [directory, oneIn, delayMs = 0] = process.argv.slice(2);
const server = await serveFiles(directory!);
server.delayMs = Number(delayMs);
if (Number(oneIn)) server.fault = everyNth(Number(oneIn), ['drop', 'slow', 'truncate', 'error']);
console.log(`listening on ${server.url}`);
process.on('SIGTERM', () => process.exit());
