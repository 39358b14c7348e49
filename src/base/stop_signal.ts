/**
 * Returns a signal that fires with the first SIGTERM or SIGINT. A later SIGINT ends the process at once, because it
 * comes from somebody at a terminal. A later SIGTERM has no effect, because supervisors send it again while clients
 * still wait for their answers.
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
 * Ends the process like an unhandled signal: at once, whatever its threads wait for. The exit status is that of the
 * signal, for example 143 in a shell for SIGTERM, which systemd accepts as a clean end.
 */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container ignores signals that it does not listen to, even SIGKILL from itself.
  setTimeout(() => process.abort(), END_MS);
}
