/** Claims the refreshing of a directory's registry, says so, and then waits for its end. */
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';

const store = openStore(process.argv[2]!, 'write');
const claim = await new Writer(store).claimExclusively('refresh the TNS registry');
process.stdout.write(claim ? 'taken\n' : 'not taken\n');
setInterval(() => {}, 1000);
