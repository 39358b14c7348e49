/**
 * Returns a signal that fires with the first SIGTERM or SIGINT. A second SIGINT ends the process at once, because
 * somebody at a terminal sent it. A second SIGTERM has no effect, because supervisors repeat it while clients still
 * wait for their answers.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    process.off('SIGINT', stop);
    controller.abort(signal);
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return controller.signal;
}

/** Many times longer than the system needs to end a process. */
const END_MS = 200;

/**
 * Ends the process at once, like an unhandled signal, whatever its threads are waiting for. The exit status is that of
 * the signal, for example 143 in a shell for SIGTERM, which systemd accepts as a clean end.
 */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container ignores signals for which it has no handler, even a SIGKILL from itself.
  setTimeout(() => process.abort(), END_MS);
}
