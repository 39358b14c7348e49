/** Serves the files below a directory over HTTP with ranges; one request in N fails in one of the ways that real hosts fail. */
import { everyNth, serveFiles } from '../test/core/catalogs/range_server.ts';

const [directory, oneIn] = process.argv.slice(2);
const server = await serveFiles(directory!);
if (oneIn) server.fault = everyNth(Number(oneIn), ['drop', 'slow', 'truncate', 'error']);
console.log(`listening on ${server.url}`);
process.on('SIGTERM', () => process.exit());
