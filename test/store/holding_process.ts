/** Has a data directory open until its standard input ends:  holding_process.ts DIRECTORY. It says `open` when it has. */
import { openStore } from '../../src/store/store.ts';

const store = openStore(process.argv[2]!, 'write');
console.log('open');
for await (const _ of process.stdin);
await store.close();
