/** Asks for small cones, one after another, until a line comes, then prints the milliseconds of each. Usage: cone_times.ts URL */
import { setTimeout as sleep } from 'node:timers/promises';

const times: number[] = [];
let isStopping = false;
process.stdin.once('data', () => {
  isStopping = true;
});
while (!isStopping) {
  const beganMs = performance.now();
  await (await fetch(`${process.argv[2]}/api/cone?ra=150&dec=2&radius_arcsec=1&detail=ids&page_size=1`)).text();
  times.push(performance.now() - beganMs);
  await sleep(5);
}
console.log(JSON.stringify(times));
process.exit();
