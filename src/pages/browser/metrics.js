/** The service's metrics (Prometheus's text format). */
/**
 * @typedef {{ labels: Record<string, string>, value: number }} Sample
 * @typedef {{ broker: string, alerts: number, objects: number, lastSeconds: number | undefined }} Broker
 */

/** @returns {Promise<Map<string, Sample[]>>} samples by the name of the metric */
export async function askMetrics() {
  const response = await fetch('/metrics');
  if (!response.ok) throw new Error(`The service does not show what it counts: ${response.status}`);
  return parseMetrics(await response.text());
}

/** @param {string} text @returns {Map<string, Sample[]>} */
export function parseMetrics(text) {
  /** @type {Map<string, Sample[]>} */
  const samples = new Map();
  for (const line of text.split('\n')) {
    const found = /^(\w+)(?:\{(.*)\})? ([^ ]+)$/.exec(line);
    if (!found) continue;
    const [, name = '', labelText = '', value] = found;
    const labels = Object.fromEntries(
      [...labelText.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]),
    );
    samples.set(name, [...(samples.get(name) ?? []), { labels, value: Number(value) }]);
  }
  return samples;
}

/**
 * The value of a metric that has one sample. @param {Map<string, Sample[]>} metrics @param {string} name @returns
 * {number | undefined}
 */
export function sampleOf(metrics, name) {
  return metrics.get(name)?.[0]?.value;
}

/**
 * The deliveries of each broker since the database was created: alerts accepted, objects that this broker was the first
 * to report, and the time of the last alert.
 * @param {Map<string, Sample[]>} metrics
 * @returns {Broker[]} by name
 */
export function brokersOf(metrics) {
  /** @type {Map<string, { alerts: number, objects: number }>} */
  const sums = new Map();
  for (const { labels, value } of metrics.get('crossmatch_alerts_ingested_total') ?? []) {
    const broker = labels.broker ?? '';
    const { alerts, objects } = sums.get(broker) ?? { alerts: 0, objects: 0 };
    sums.set(broker, { alerts: alerts + value, objects: objects + (labels.result === 'new' ? value : 0) });
  }
  const last = new Map(
    (metrics.get('crossmatch_alert_last_success_timestamp_seconds') ?? []).map(({ labels, value }) => [
      labels.broker,
      value,
    ]),
  );
  return [...sums]
    .map(([broker, { alerts, objects }]) => ({ broker, alerts, objects, lastSeconds: last.get(broker) }))
    .sort((a, b) => (a.broker < b.broker ? -1 : 1));
}
