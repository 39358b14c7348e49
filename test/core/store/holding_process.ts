/**
 * Has a data directory open until its standard input ends: holding_process.ts DIRECTORY [read|write]. It prints `open`
 * when the directory is open. At the end it prints why the data that it read cannot be trusted, or `undisturbed`.
 */
import { openStore } from '../../../src/core/store/store.ts';

const [directory, mode = 'write'] = process.argv.slice(2);
const store = openStore(directory!, mode as 'read' | 'write');
console.log('open');
for await (const _ of process.stdin);
try {
  store.requireUndisturbed();
  console.log('undisturbed');
} catch (error) {
  console.log((error as Error).message);
}
await store.close();
