/** Fills the table of the page with the deliveries of each broker. */
import { ago, count } from './format.js';
import { askMetrics, brokersOf } from './metrics.js';

try {
  const now = Date.now() / 1000;
  for (const { broker, alerts, lastSeconds } of brokersOf(await askMetrics())) {
    const cell = document.querySelector(`[data-broker="${CSS.escape(broker)}"]`);
    const last = document.querySelector(`[data-last="${CSS.escape(broker)}"]`);
    if (cell) cell.textContent = count(alerts);
    if (last && lastSeconds !== undefined) last.textContent = `${ago(now - lastSeconds)} ago`;
  }
} catch {
  // On a failure, the table keeps its dashes. The rest of the page does not need these numbers.
}
