/**
 * Fires with the first SIGTERM or SIGINT. A SIGINT after that ends the process at once, because somebody at a terminal wants it to; a further
 * SIGTERM changes nothing, because supervisors send it again while clients still wait for their answers.
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

/** How long the system takes to end a process, many times over. */
const END_MS = 200;

/**
 * Ends the process as the signal does that nobody listens to: at once, whatever its threads wait for. Its status is the signal's, 143 in a
 * shell for SIGTERM, which systemd takes for a clean end.
 */
export function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  // The first process of a container gets no signal that it does not listen to, SIGKILL included.
  setTimeout(() => process.abort(), END_MS);
}
