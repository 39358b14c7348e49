/**
 * Receives matches as they are recorded, while the page is visible. A hidden page holds no connection, because a
 * browser has few connections to one service.
 */

/** Calls `onMatch` with each match that is recorded from now on. @param {(match: any) => void} onMatch */
export function follow(onMatch) {
  /** @type {EventSource | undefined} */
  let source;
  let lastId = '';
  const change = () => {
    if (document.hidden) {
      source?.close();
      source = undefined;
    } else if (!source) {
      source = new EventSource(`/api/stream/matches${lastId && `?from=${lastId}`}`);
      source.addEventListener('message', event => {
        lastId = event.lastEventId;
        onMatch(JSON.parse(event.data));
      });
    }
  };
  document.addEventListener('visibilitychange', change);
  change();
}
