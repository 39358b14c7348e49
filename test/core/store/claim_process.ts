/** Claims the first five pending objects of a directory, says how many it got, and then waits for its end. */
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';

const store = openStore(process.argv[2]!, 'write');
const claim = await new Writer(store).claim(store.pendingIds(5));
process.stdout.write(`${claim.ids.length}\n`);
setInterval(() => {}, 1000);
