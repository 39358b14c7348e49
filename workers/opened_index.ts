/** The generation that this thread searches, opened once for many tasks. */
import { openGeneration, type SkyIndex } from '../index/mod.ts';
import { release } from '../src/garbage.ts';
import type { PublishedGeneration } from './tasks.ts';

/** A thread that has not searched for so long lets go of its generation, which may be an old one. */
const IDLE_MS = 1000;

interface Opened {
  readonly generation: PublishedGeneration;
  readonly index: SkyIndex;
}

let opened: Opened | undefined;
let used = false;
let watch: ReturnType<typeof setInterval> | undefined;

export function openedIndex(generation: PublishedGeneration): SkyIndex {
  used = true;
  if (opened?.generation.number !== generation.number) {
    if (opened) release(generation.replacedBytes - opened.generation.replacedBytes);
    opened = { generation, index: openGeneration(generation) };
    watch ??= setInterval(closeIfIdle, IDLE_MS).unref();
  }
  return opened.index;
}

function closeIfIdle(): void {
  if (used || !opened) {
    used = false;
    return;
  }
  release(opened.generation.arenas.reduce((sum, { byteLength }) => sum + byteLength, 0));
  opened = undefined;
  clearInterval(watch);
  watch = undefined;
}
