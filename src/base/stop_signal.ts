/**
 * Fires with the first SIGTERM or SIGINT. A later SIGINT ends the process at once, because it comes from somebody at a
 * terminal. A later SIGTERM changes nothing, because supervisors send it again while clients still wait for their
 * answers.
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

/** The time that the system takes to end a process, many times over. */
const END_MS = 200;

/**
 * Ends the process as an unhandled signal does: at once, whatever its threads wait for. The exit status is that of the
 * signal, 143 in a shell for SIGTERM, which systemd takes for a clean end.
 */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container gets no signal that it does not listen to, SIGKILL included.
  setTimeout(() => process.abort(), END_MS);
}
