const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Fires with the first SIGTERM or SIGINT; a second one ends the process at once, as it would without this. */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    for (const name of STOP_SIGNALS) process.off(name, stop);
    controller.abort(signal);
  };
  for (const name of STOP_SIGNALS) process.on(name, stop);
  return controller.signal;
}
