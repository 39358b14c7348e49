/** Opens a data directory for writing and prints why it could not, or `opened`:  opening_process.ts DIRECTORY */
import { openStore } from '../../src/store/store.ts';

try {
  await openStore(process.argv[2]!, 'write').close();
  console.log('opened');
} catch (error) {
  console.log((error as Error).message);
}
