/** The state of the service, looked at every few seconds while the page is in view. */
import { count, time } from './format.js';
import { ask, badge, byId, facts, h, prose, show, showError, showLoading } from './page.js';

const AGAIN_MS = 10_000;
const place = byId('status');
showLoading(place, 'Asking the service');
void look();
setInterval(() => {
  if (document.visibilityState === 'visible') void look();
}, AGAIN_MS);

async function look() {
  try {
    // The map may still be counting: the rest is worth showing without it.
    const [status, map] = await Promise.all([ask('/api/status'), ask('/api/sky-map?resolution=0').catch(() => null)]);
    show(place, lights(status), map ? holdings(map) : h('p', { class: 'hint' }, 'The objects are being counted.'));
  } catch (error) {
    showError(place, error, look);
  }
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
        ? `They resolve, by the registry of ${time(epoch)}`
        : 'They cannot be resolved now: there is no current snapshot',
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

/** @param {boolean} isGood @param {string} name @param {string} says */
function light(isGood, name, says) {
  return h(
    'div',
    { class: isGood ? 'good' : 'bad' },
    h('h2', {}, name, h('span', { class: 'state' }, isGood ? 'ok' : 'unavailable')),
    h('p', {}, says),
  );
}

/** @param {any} map the whole sky at its coarsest */
function holdings({ total, without_position, by_status }) {
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
      h('td', { class: 'meaning' }, prose(facts.statuses[status]?.meaning ?? '')),
    ),
  );
  return h(
    'section',
    {},
    h('h2', {}, `${count(total)} objects`),
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
            h('th', { scope: 'col', class: 'number' }, 'Objects'),
            h('th', { scope: 'col', class: 'meaning' }, 'Meaning'),
          ),
        ),
        h('tbody', {}, rows),
      ),
    ),
    without_position > 0 && h('p', { class: 'hint' }, `${count(without_position)} more without a valid position.`),
  );
}
