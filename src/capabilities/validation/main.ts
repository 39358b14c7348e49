import { messageOf } from '../../core/base/error_text.ts';
import { repeat, withTimeout } from '../../core/base/timeout.ts';
import type { PartOf } from '../../core/host.ts';
import { runValidation } from './run_validation.ts';
import { validationSettings } from './settings.ts';

const HOUR_MS = 3_600_000;
const CLOSE_MS = 2000;

/** Makes the validation again and again, if the settings ask for that. */
export const part: PartOf = ({ config, log }) => {
  const { NEARSKY_VALIDATION_HOURS: hours } = validationSettings.of(config);
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  let pauseMs = 0;
  const step = async (keptMs: number) => {
    pauseMs = HOUR_MS;
    const { validation, problems } = await runValidation(config, keptMs, { isBackground: true, ends: stop.signal });
    for (const reason of problems) log('catalog_unreadable', { error: reason });
    pauseMs = Math.max(1000, Date.parse(validation.made) + keptMs - Date.now());
  };
  const failed = (error: unknown) => log('validation_failed', { error: messageOf(error) });
  return {
    start() {
      if (hours !== null)
        running = repeat(
          stop.signal,
          () => pauseMs,
          () => step(hours * HOUR_MS),
          failed,
        );
    },
    async close() {
      stop.abort();
      await withTimeout(Promise.resolve(running), CLOSE_MS);
    },
  };
};
