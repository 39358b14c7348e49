/** The state of the service, updated every few seconds while the page is in view. */
import { ago, count, counted, time } from './format.js';
import { askMetrics, brokersOf, sampleOf } from './metrics.js';
import { ask, badge, brokerTitles, byId, h, moment, pageData, prose, show, showError, showLoading } from './page.js';

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
      ask('/api/status'),
      ask('/api/sky-map?resolution=0&partial=true').catch(() => null),
      askMetrics().catch(() => null),
    ]);
    show(
      place,
      lights(status),
      metrics ? flow(metrics) : h('p', { class: 'hint' }, 'What comes in cannot be told now.'),
      map
        ? holdings(map, metrics && sampleOf(metrics, 'nearsky_objects'))
        : h('p', { class: 'hint' }, 'The objects cannot be counted now.'),
    );
  } catch (error) {
    showError(place, error, look);
  }
}

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
    if (earlier === undefined || known === undefined) return `known in ${AGAIN_MS / 1000} s`;
    const perSecond = ((alerts - known) * 1000) / (nowMs - earlier.atMs);
    return `${perSecond >= 10 ? count(Math.round(perSecond)) : perSecond.toFixed(1)} a second`;
  };
  return h(
    'section',
    {},
    h('h2', {}, 'What comes in'),
    h(
      'dl',
      { class: 'properties wide' },
      row('Last new object', ingest === undefined ? 'none yet' : `${ago(ingest)} ago`),
      row(
        'Waiting for their crossmatch',
        pending === undefined ? 'unknown' : pending === 0 ? 'none' : counted(pending, 'object'),
      ),
      row(
        'Stored, not yet searchable by position',
        lag === undefined ? 'unknown' : lag === 0 ? 'nothing' : counted(lag, 'change'),
      ),
    ),
    brokers.length > 0 &&
      h(
        'div',
        { class: 'scroll' },
        h(
          'table',
          { class: 'stacked' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              ['Broker', 'Alerts taken', 'Objects', 'Last one', 'Now'].map((head, i) =>
                h('th', { scope: 'col', class: i === 1 || i === 2 ? 'number' : undefined }, head),
              ),
            ),
          ),
          h(
            'tbody',
            {},
            brokers.map(({ broker, alerts, objects, lastSeconds }) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row' }, brokerTitles([broker])),
                h('td', { class: 'number', 'data-head': 'Alerts taken' }, count(alerts)),
                h('td', { class: 'number', 'data-head': 'Objects' }, count(objects)),
                h(
                  'td',
                  { 'data-head': 'Last one' },
                  lastSeconds === undefined ? '–' : `${ago(Date.now() / 1000 - lastSeconds)} ago`,
                ),
                h('td', { 'data-head': 'Now' }, rate(broker, alerts)),
              ),
            ),
          ),
        ),
      ),
  );
}

/** @param {string} name @param {string} value */
function row(name, value) {
  return h('div', {}, h('dt', {}, name), h('dd', {}, value));
}

/** @param {any} status */
function lights(status) {
  const { database, tns_resolution: tns, tns_snapshot_epoch: epoch, service_version, contract_version } = status;
  return h(
    'div',
    { class: 'lights' },
    light(
      database === 'ok',
      'Database',
      database === 'ok' ? 'It can be read' : 'It cannot be read: searches answer 503',
    ),
    light(
      tns === 'available',
      'TNS names',
      tns === 'available'
        ? ['They resolve, by the registry of ', moment(epoch)]
        : 'They cannot be resolved now: there is no current snapshot, or it cannot be read',
    ),
    h(
      'div',
      {},
      h('h2', {}, 'Version'),
      h('p', {}, `Service ${service_version ?? 'unknown'}, contract ${contract_version}`),
    ),
    h('p', { class: 'hint wide' }, `Looked at ${time(new Date().toISOString())}; again every ${AGAIN_MS / 1000} s.`),
  );
}

/** @param {boolean} isGood @param {string} name @param {import('./page.js').Child} says */
function light(isGood, name, says) {
  return h(
    'div',
    { class: isGood ? 'good' : 'bad' },
    h('h2', {}, name, h('span', { class: 'state' }, isGood ? 'ok' : 'unavailable')),
    h('p', {}, says),
  );
}

/** @param {any} map the whole sky at its coarsest, as far as it is counted @param {number | null | undefined} stored objects in the database */
function holdings({ total, uncounted, without_position, by_status }, stored) {
  const sums = Object.entries(by_status).map(([status, counts]) => ({
    status,
    sum: /** @type {number[]} */ (counts).reduce((sum, each) => sum + each, 0),
  }));
  const rows = sums.map(({ status, sum }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, badge(status)),
      h('td', { class: 'number' }, count(sum)),
      h('td', { class: 'meaning' }, prose(pageData.statuses[status]?.meaning ?? '')),
    ),
  );
  if (without_position > 0)
    rows.push(
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, 'Without a valid position'),
        h('td', { class: 'number' }, count(without_position)),
        h('td', { class: 'meaning' }, 'Of any status: they are on no map, and found by their id only.'),
      ),
    );
  return h(
    'section',
    {},
    h('h2', {}, counted(stored ?? total + uncounted, 'object')),
    uncounted > 0 && progress(total, total + uncounted),
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        {},
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', { scope: 'col' }, 'Status'),
            h('th', { scope: 'col', class: 'number' }, uncounted > 0 ? 'Counted so far' : 'Objects'),
            h('th', { scope: 'col', class: 'meaning' }, 'Meaning'),
          ),
        ),
        h('tbody', {}, rows),
      ),
    ),
  );
}

/** @param {number} counted @param {number} all */
function progress(counted, all) {
  return h(
    'p',
    { class: 'hint' },
    h('progress', { max: all, value: counted, 'aria-label': 'Objects counted' }),
    ` ${count(counted)} of ${count(all)} objects are counted so far.`,
  );
}
