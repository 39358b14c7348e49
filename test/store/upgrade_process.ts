/** Opens the data directory for writing, and closes it. */
import { openStore } from '../../src/store/store.ts';

await openStore(process.argv[2]!, 'write').close();
