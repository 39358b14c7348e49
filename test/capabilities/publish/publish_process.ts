/** Claims the publishing from a directory, says so, and then waits for its end. */

import { StoreLedger } from '../../../src/capabilities/publish/ledger.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { TOPIC } from './support.ts';

const store = openStore(process.argv[2]!, 'write');
await new StoreLedger(store, new Writer(store), TOPIC).begin();
process.stdout.write('taken\n');
setInterval(() => {}, 1000);
