/** Makes many objects and keeps a few MiB of them. Prints the largest size of the heap, MiB. */
let kept: object[] = [];
let largest = 0;
for (let i = 0; i < 2_000_000; i++) {
  kept.push({ i });
  if (kept.length > 200_000) kept = [];
  if (i % 50_000 === 0) largest = Math.max(largest, process.memoryUsage().heapTotal);
}
console.log(`${largest / 2 ** 20}`);
