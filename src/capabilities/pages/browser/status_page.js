/** The state of the service, updated every few seconds while the page is in view. */
import { ago, count, counted, time } from './format.js';
import { askMetrics, brokersOf, sampleOf } from './metrics.js';
import { ask, badge, brokerTitles, byId, html, moment, pageData, prose, show, showError, showLoading } from './page.js';
import { root } from './root.js';

/** @typedef {import('./page.js').Child} Child */

const AGAIN_MS = 10_000;
const place = byId('status');
showLoading(place, 'Asking the service');
void look();
setInterval(() => {
  if (document.visibilityState === 'visible') void look();
}, AGAIN_MS);

/**
 * The previous counts, for rates.
 * @type {{ atMs: number, alerts: Map<string, number> } | undefined}
 */
let before;

async function look() {
  try {
    // The counts and the metrics are shown independently, so that either appears without the other.
    const [status, map, metrics] = await Promise.all([
      ask(`${root}/api/status`),
      ask(`${root}/api/sky-map?resolution=0&partial=true`).catch(() => null),
      askMetrics().catch(() => null),
    ]);
    show(
      place,
      html`
        ${lights(status)}
        ${metrics ? flow(metrics) : hint('The incoming alerts cannot be counted now.')}
        ${map ? holdings(map, metrics && sampleOf(metrics, 'nearsky_objects')) : hint('The objects cannot be counted now.')}`,
    );
  } catch (error) {
    showError(place, error, look);
  }
}

/** @param {string} text */
const hint = text => html`<p class="hint">${text}</p>`;

/**
 * The incoming alerts, and the waiting objects.
 * @param {Map<string, import('./metrics.js').Sample[]>} metrics
 */
function flow(metrics) {
  const brokers = brokersOf(metrics);
  const nowMs = performance.now();
  const earlier = before;
  before = { atMs: nowMs, alerts: new Map(brokers.map(({ broker, alerts }) => [broker, alerts])) };
  const ingest = sampleOf(metrics, 'nearsky_latest_ingest_age_seconds');
  const pending = sampleOf(metrics, 'nearsky_objects_pending');
  const lag = sampleOf(metrics, 'nearsky_journal_lag_entries');
  /** @param {string} broker @param {number} alerts */
  const rate = (broker, alerts) => {
    const known = earlier?.alerts.get(broker);
    if (earlier === undefined || known === undefined) return `measured in ${AGAIN_MS / 1000} s`;
    const perSecond = ((alerts - known) * 1000) / (nowMs - earlier.atMs);
    return `${perSecond >= 10 ? count(Math.round(perSecond)) : perSecond.toFixed(1)} per second`;
  };
  const none = pending === undefined ? 'unknown' : 'none yet';
  const latest = ingest === undefined ? none : `${ago(ingest)} ago`;
  const waiting = pending === undefined ? 'unknown' : pending === 0 ? 'none' : counted(pending, 'object');
  const unpublished = lag === undefined ? 'unknown' : lag === 0 ? 'none' : counted(lag, 'change');
  /** @param {import('./metrics.js').Broker} broker */
  const row = ({ broker, alerts, objects, lastSeconds }) => html`
    <tr>
      <th scope="row">${brokerTitles([broker])}</th>
      <td class="number" data-head="Alerts taken">${count(alerts)}</td>
      <td class="number" data-head="Objects">${count(objects)}</td>
      <td data-head="Last one">${lastSeconds === undefined ? '–' : `${ago(Date.now() / 1000 - lastSeconds)} ago`}</td>
      <td data-head="Now">${rate(broker, alerts)}</td>
    </tr>`;
  const table = html`
    <div class="scroll"><table class="stacked">
      <thead><tr>
        <th scope="col">Broker</th>
        <th scope="col" class="number">Alerts taken</th>
        <th scope="col" class="number">Objects</th>
        <th scope="col">Last one</th>
        <th scope="col">Now</th>
      </tr></thead>
      <tbody>${brokers.map(row)}</tbody>
    </table></div>`;
  return html`
    <section>
      <h2>What comes in</h2>
      <dl class="properties wide">
        <div><dt>Last new object</dt><dd>${latest}</dd></div>
        <div><dt>Not yet searched</dt><dd>${waiting}</dd></div>
        <div><dt>Stored, not yet searchable by position</dt><dd>${unpublished}</dd></div>
      </dl>
      ${brokers.length > 0 && table}
    </section>`;
}

/** @param {any} status */
function lights(status) {
  const { database, tns_resolution: tns, tns_snapshot_epoch: epoch, service_version, contract_version } = status;
  const reads = database === 'ok';
  const readText = reads ? 'Readable' : 'Cannot be read: searches return 503';
  const resolves = tns === 'available';
  const resolveText = resolves
    ? html`TNS names can be looked up. Snapshot of TNS: ${moment(epoch)}`
    : 'Names cannot be resolved now: the snapshot is missing, outdated or unreadable';
  return html`
    <div class="lights">
      ${light(reads, 'Database', readText)}
      ${light(resolves, 'TNS names', resolveText)}
      <div><h2>Version</h2><p>Service ${service_version}, contract ${contract_version}</p></div>
      <p class="hint wide">Updated ${time(new Date().toISOString())}; updates every ${AGAIN_MS / 1000} s.</p>
    </div>`;
}

/** @param {boolean} isGood @param {string} name @param {Child} says */
function light(isGood, name, says) {
  const state = isGood ? 'ok' : 'unavailable';
  return html`
    <div class=${isGood ? 'good' : 'bad'}><h2>${name}<span class="state">${state}</span></h2><p>${says}</p></div>`;
}

const UNPLACED = 'They may have any status. Not on the map: only their id finds them.';

/**
 * @param {any} map the whole sky at the coarsest resolution, as far as counted @param {number | null | undefined}
 * stored objects in the database
 */
function holdings({ total, uncounted, without_position, by_status }, stored) {
  const sums = Object.entries(by_status).map(([status, counts]) => ({
    status,
    sum: /** @type {number[]} */ (counts).reduce((sum, each) => sum + each, 0),
  }));
  /** @param {Child} name @param {number} sum @param {Child} meaning */
  const row = (name, sum, meaning) => html`
    <tr><th scope="row">${name}</th><td class="number">${count(sum)}</td><td class="meaning">${meaning}</td></tr>`;
  return html`
    <section>
      <h2>${counted(stored ?? total + uncounted, 'object')}</h2>
      ${uncounted > 0 && progress(total, total + uncounted)}
      <div class="scroll"><table>
        <thead><tr>
          <th scope="col">Status</th>
          <th scope="col" class="number">${uncounted > 0 ? 'Counted so far' : 'Objects'}</th>
          <th scope="col" class="meaning">Meaning</th>
        </tr></thead>
        <tbody>
          ${sums.map(({ status, sum }) => row(badge(status), sum, prose(pageData.statuses[status]?.meaning ?? '')))}
          ${without_position > 0 && row('Without a valid position', without_position, UNPLACED)}
        </tbody>
      </table></div>
    </section>`;
}

/** @param {number} counted @param {number} all */
function progress(counted, all) {
  return html`
    <p class="hint"><progress max=${all} value=${counted} aria-label="Objects counted"></progress>
    ${count(counted)} of ${count(all)} objects are counted so far.</p>`;
}
