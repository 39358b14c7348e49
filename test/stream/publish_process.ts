/** Claims the publishing from a directory, says so, and then waits for its end. */
import { openStore } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { StoreLedger } from '../../src/stream/ledger.ts';
import { TOPIC } from './support.ts';

const store = openStore(process.argv[2]!, 'write');
await new StoreLedger(store, new Writer(store), TOPIC).begin();
process.stdout.write('taken\n');
setInterval(() => {}, 1000);
