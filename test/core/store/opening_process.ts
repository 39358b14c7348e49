/** Opens a data directory, for writing by default, and prints why it could not, or `opened`:  opening_process.ts DIRECTORY [read|write] */
import { openStore } from '../../../src/core/store/store.ts';

try {
  const [directory, mode = 'write'] = process.argv.slice(2);
  await openStore(directory!, mode as 'read' | 'write').close();
  console.log('opened');
} catch (error) {
  console.log((error as Error).message);
}
