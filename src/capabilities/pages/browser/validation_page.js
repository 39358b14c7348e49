/** The script of the page with the validation. */
import { count, counted } from './format.js';
import { ask, byId, html, mark, moment, releaseOf, show, showError, showLoading } from './page.js';
import { root } from './root.js';

const GROUPS = /** @type {Readonly<Record<string, string>>} */ ({
  supernova: 'Supernovae',
  tde: 'Tidal disruption events',
  agn: 'Active galactic nuclei',
  cv: 'Cataclysmic variables',
  other: 'Other classes',
});

const place = byId('validation');
showLoading(place, 'Asking the service');
void look();

async function look() {
  try {
    const { refresh_hours, validation } = await ask(`${root}/api/validation`);
    show(place, validation ? shown(validation, refresh_hours) : notMade(refresh_hours));
  } catch (error) {
    showError(place, error, () => void look());
  }
}

/** @param {number | null} hours */
const notMade = hours =>
  hours === null
    ? html`<p>No validation was made of this archive. Whoever runs the service makes it with <code>nearsky validate</code>.</p>`
    : html`<p>No validation was made of this archive yet. The service makes it every ${counted(hours, 'hour')}.</p>`;

/** @param {any} validation @param {number | null} hours */
function shown({ made, journal_entry, registry, calibration }, hours) {
  return html`
    <p>Made ${moment(made)}, from journal entry ${count(journal_entry)}${hours !== null && html`; every ${counted(hours, 'hour')}`}.</p>
    <h2>Transients with a known class</h2>
    ${
      registry.epoch === null
        ? html`<p>This service has no copy of TNS.</p>`
        : html`<p>${counted(registry.classified, 'transient')} in TNS ${registry.classified === 1 ? 'has' : 'have'} a class; ${count(registry.stored)} of them
            are stored here, and ${count(registry.transients)} are compared.</p>`
    }
    ${registry.transients > 0 && [classes(registry), chances(registry)]}
    <h2>Random positions</h2>
    <p>${counted(calibration.positions, 'position')} in random directions from stored objects, ${calibration.displacement_arcsec.join(' to ')}″ away. The number
      with a source is compared with the sum of 1 − exp(−πρR²), with the density ρ at each position.</p>
    ${calibration.positions > 0 && [random(calibration), leftOut(calibration)]}`;
}

/** @param {string} label @param {readonly string[]} head @param {unknown} body */
const tableOf = (label, head, body) => html`
  <div class="scroll" tabindex="0" role="group" aria-label=${label}>
    <table>
      <thead><tr>${head.map((name, i) => html`<th scope="col" class=${i > 1 && 'number'}>${name}</th>`)}</tr></thead>
      <tbody>${body}</tbody>
    </table>
  </div>`;

/** @param {any} registry */
const classes = ({ groups }) =>
  tableOf(
    'Sources by class',
    [
      'Class',
      'Catalog',
      'Transients',
      'Searched',
      'With a source',
      '95%',
      'By chance',
      'Star',
      'Galaxy',
      'Quasar',
      'Unclear',
    ],
    groups.flatMap((/** @type {any} */ group) =>
      group.transients === 0
        ? []
        : [
            ...classRows(html`<strong>${GROUPS[group.group] ?? group.group}</strong>`, group),
            ...group.classes.flatMap((/** @type {any} */ each) => classRows(each.classification, each)),
          ],
    ),
  );

/** @param {unknown} name @param {any} counts */
function classRows(name, { transients, catalogs }) {
  /** @type {[string, any][]} */
  const all = Object.entries(catalogs);
  return all.map(([catalog, { searched, coincident, fraction, interval, expected_by_chance, verdicts }], i) => {
    const cells = [
      count(transients),
      count(searched),
      fraction === null ? '' : `${count(coincident)} (${percent(fraction)})`,
      interval === null
        ? ''
        : `${interval.map((/** @type {number} */ value) => (100 * value).toFixed(1)).join('–')}\u00a0%`,
      short(expected_by_chance),
      ...['star', 'galaxy', 'quasar', 'unclear'].map(verdict => count(verdicts[verdict])),
    ];
    return html`<tr>${i === 0 && html`<th scope="row" rowspan=${all.length}>${name}</th>`}<td>${mark(catalog)}${releaseOf(catalog)}</td>${cells.map(numberCell)}</tr>`;
  });
}

/** The sources of each group by their chance probability. @param {any} registry */
function chances({ groups }) {
  const rows = groups.flatMap((/** @type {any} */ { group, catalogs }) =>
    Object.entries(catalogs).flatMap(([catalog, { coincident, chance_probability, without_chance }]) =>
      coincident === 0 ? [] : [{ group, catalog, bins: chance_probability, without_chance }],
    ),
  );
  if (rows.length === 0) return '';
  const [{ bins }] = rows;
  const labels = bins.map((/** @type {any} */ { from, to }) => `${from} to ${to}`);
  return html`
    <p>The same sources by the probability of an unrelated source as close:</p>
    ${tableOf(
      'Sources by chance',
      ['Class', 'Catalog', ...labels, 'Unknown'],
      rows.map(
        (/** @type {any} */ { group, catalog, bins: of, without_chance }) =>
          html`<tr><th scope="row">${GROUPS[group] ?? group}</th><td>${mark(catalog)}${releaseOf(catalog)}</td>${[
            ...of.map((/** @type {any} */ { sources }) => sources),
            without_chance,
          ].map(value => numberCell(count(value)))}</tr>`,
      ),
    )}`;
}

/** @param {any} calibration */
const leftOut = ({ catalogs }) =>
  html`<ul>${Object.entries(catalogs).map(
    ([name, { outside_footprint, without_density }]) =>
      html`<li>${mark(name)}${releaseOf(name)}: ${counted(outside_footprint, 'position')} outside its footprint, ${count(without_density)} without a density</li>`,
  )}</ul>`;

/** @param {any} calibration */
const random = ({ catalogs }) =>
  tableOf(
    'Sources at random positions',
    ['Catalog', 'Sources per square arcmin', 'Radius', 'Positions', 'With a source', 'Expected', '95%'],
    Object.entries(catalogs).flatMap(([name, { radii }]) =>
      radii.flatMap((/** @type {any} */ { radius_arcsec, source_density, ...all }) => [
        randomRow(name, html`<strong>all</strong>`, radius_arcsec, all),
        ...source_density.map((/** @type {any} */ bin) =>
          randomRow(name, bin.to === null ? `${bin.from} or more` : `${bin.from} to ${bin.to}`, radius_arcsec, bin),
        ),
      ]),
    ),
  );

/** @param {string} name @param {unknown} density @param {number} radius @param {any} counts */
function randomRow(name, density, radius, { positions, observed, expected_by_chance, expected_interval }) {
  const cells = [
    `${radius}″`,
    count(positions),
    count(observed),
    short(expected_by_chance),
    expected_interval.join(' to '),
  ];
  return html`<tr><th scope="row">${mark(name)}${releaseOf(name)}</th><td>${density}</td>${cells.map(numberCell)}</tr>`;
}

/** @param {unknown} cell */
const numberCell = cell => html`<td class="number">${cell}</td>`;
/** @param {number} value */
const percent = value => `${(100 * value).toFixed(1)}\u00a0%`;
/** @param {number} value */
const short = value => Number(value.toPrecision(3));
