/**
 * Receives events while the page is visible. A hidden page holds no connection, because a browser has few connections to
 * one service.
 */
import { root } from './root.js';

/**
 * Calls a function whenever the page is visible, with a signal that aborts when it is hidden or `ends` aborts.
 * @param {(signal: AbortSignal) => void} run
 * @param {AbortSignal} [ends]
 */
export function whileVisible(run, ends) {
  /** @type {AbortController | undefined} */
  let visible;
  const change = () => {
    if (document.hidden || ends?.aborted) {
      visible?.abort();
      visible = undefined;
    } else if (!visible) {
      visible = new AbortController();
      run(visible.signal);
    }
  };
  document.addEventListener('visibilitychange', change, ends ? { signal: ends } : {});
  ends?.addEventListener('abort', change);
  change();
}

/** Calls `onMatch` with each match that is recorded from now on. @param {(match: any) => void} onMatch */
export function follow(onMatch) {
  let lastId = '';
  whileVisible(hidden => {
    const source = new EventSource(`${root}/api/stream/matches${lastId && `?from=${lastId}`}`);
    hidden.addEventListener('abort', () => source.close());
    source.addEventListener('message', event => {
      lastId = event.lastEventId;
      onMatch(JSON.parse(event.data));
    });
  });
}
