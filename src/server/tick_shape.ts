/**
 * Keeps one of the objects that `process.nextTick` makes, for the sake of its shape. Where a garbage collection finds none alive, V8 forgets
 * the shape, and from then on makes each of the half a dozen of a request in its slow way: 2.5 µs a request (Node 24). To be imported before
 * anything else. Deno has other objects.
 */
import { executionAsyncResource } from 'node:async_hooks';

/** Exported so that the engine may not see that nobody reads it. */
export const kept: object[] = [];

process.nextTick(() => kept.push(executionAsyncResource()));
