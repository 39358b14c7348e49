/** The service's metrics (Prometheus's text format). */
import { root } from './root.js';

/**
 * @typedef {{ labels: Record<string, string>, value: number }} Sample
 * @typedef {{ broker: string, alerts: number, objects: number, lastSeconds: number | undefined }} Broker
 */

/** @returns {Promise<Map<string, Sample[]>>} samples by the name of the metric */
export async function askMetrics() {
  const response = await fetch(`${root}/metrics`);
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
  const sum = (/** @type {Sample[]} */ samples) => samples.reduce((total, { value }) => total + value, 0);
  const ingested = metrics.get('crossmatch_alerts_ingested_total') ?? [];
  const last = metrics.get('crossmatch_alert_last_success_timestamp_seconds') ?? [];
  return [...Map.groupBy(ingested, ({ labels }) => labels.broker ?? '')]
    .map(([broker, samples]) => ({
      broker,
      alerts: sum(samples),
      objects: sum(samples.filter(({ labels }) => labels.result === 'new')),
      lastSeconds: last.findLast(({ labels }) => labels.broker === broker)?.value,
    }))
    .sort((a, b) => (a.broker < b.broker ? -1 : 1));
}
