/** Reads a file of a host twice: first while this process can open no file, then when it can. Prints both outcomes. */
import { closeSync, openSync } from 'node:fs';
import { catalogFiles, noReads, REMOTE_DEFAULTS } from '@nearsky/hats';

const files = await catalogFiles(process.argv[2]!, { remote: { ...REMOTE_DEFAULTS, pauseMs: 1 }, counts: noReads() });
const read = () =>
  files.open('x').then(
    () => 'read',
    () => 'failed',
  );
const opened: number[] = [];
try {
  for (;;) opened.push(openSync(import.meta.filename, 'r'));
} catch {
  // The limit is reached.
}
const first = await read();
for (const file of opened) closeSync(file);
console.log(`${first}, ${await read()}`);
process.exit();
