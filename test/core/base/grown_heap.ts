/** A process whose heap grows and shrinks. It fails unless the memory is returned. */
import { boundHeap } from '../../../src/core/base/shared_memory.ts';
import { eventually } from '../../directory.ts';

const end = boundHeap(16, 100);
const before = process.memoryUsage().rss;
let kept: object[] = Array.from({ length: 4_000_000 }, (_, i) => ({ i }));
const grown = process.memoryUsage().rss - before;
if (grown < 2 ** 26) throw new Error(`The heap grew by ${grown} bytes only`);
kept = [];
await eventually('half of it is returned', async () => process.memoryUsage().rss - before < grown / 2 || undefined);
end();
console.log(kept.length);
