/** One pass of the spatial core over the sky of a directory, under whatever runtime runs this: its figures as one line of JSON. */
import { measureCore } from './core.ts';
import { readSky } from './sky.ts';

console.log(JSON.stringify(measureCore(readSky(process.argv[2]!))));
