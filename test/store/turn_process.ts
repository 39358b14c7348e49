/** Takes the turn of refreshing the registry of a directory, says so, and then waits for its end. */
import { openStore } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';

const store = openStore(process.argv[2]!, 'write');
const turn = await new Writer(store).takeTurn('refresh the TNS registry');
process.stdout.write(turn ? 'taken\n' : 'not taken\n');
setInterval(() => {}, 1000);
