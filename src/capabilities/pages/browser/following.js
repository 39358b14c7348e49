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

/**
 * Offers the feed of what the page shows now; nothing if the service has no feeds.
 * @param {string | undefined} address undefined if it has none
 */
export function offerFeed(address) {
  const visible = /** @type {HTMLAnchorElement | null} */ (document.getElementById('feed'));
  if (!visible) return;
  visible.hidden = address === undefined;
  const head = document.head.querySelector('link[rel="alternate"]');
  if (address === undefined) return head?.remove();
  visible.href = address;
  const link = head ?? document.head.appendChild(document.createElement('link'));
  for (const [name, value] of Object.entries({
    rel: 'alternate',
    type: 'application/atom+xml',
    title: document.title,
    href: visible.href,
  }))
    link.setAttribute(name, value);
}
