import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The result of the promise; undefined if the promise takes longer than this many milliseconds. Rejects if the promise
 * rejects before then.
 */
export async function withTimeout<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, milliseconds, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves after this many milliseconds, or when the signal fires. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => {});
}

/**
 * Runs a step again and again until the signal fires.
 * @param pauseMs the pause after a step, milliseconds
 * @param onFailure called with the error of a step, unless the signal has fired; must not throw
 */
export async function repeat(
  signal: AbortSignal,
  pauseMs: number | (() => number),
  step: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await step();
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
    await pause(typeof pauseMs === 'number' ? pauseMs : pauseMs(), signal);
  }
}
