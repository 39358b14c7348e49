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
