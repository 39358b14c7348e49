/** The catalogs' own sources at a position, whether or not an alert is there. */
import { counted, fixed } from './format.js';
import { ApiError, ask, html, pageData, releaseOf, show, showError, showLoading } from './page.js';
import { downloads } from './result_list.js';
import { resultTable } from './result_table.js';
import { root } from './root.js';

const COLUMNS = [
  { name: 'catalog' },
  { name: 'source id', isNumber: true },
  { name: 'separation', unit: 'arcsec', isNumber: true },
  { name: 'magnitude', isNumber: true },
  { name: 'verdict', description: 'What the catalog says of its source, and why' },
];

/**
 * Shows the sources in the place, nearest first, and what was searched; nothing if the service has no such search.
 * @param {Element} place @param {{ ra: number, dec: number }} position @param {number} radiusArcsec
 */
export async function showSources(place, { ra, dec }, radiusArcsec) {
  showLoading(place, 'Searching the catalogs');
  const radius = Math.min(radiusArcsec, pageData.maxSourcesRadiusArcsec);
  const path = `${root}/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=${radius}`;
  try {
    show(place, sectionOf(await ask(path), radius, path));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return show(place);
    showError(place, error, () => void showSources(place, { ra, dec }, radiusArcsec));
  }
}

/** @param {any} near @param {number} radius @param {string} path of the API */
function sectionOf({ count, catalogs, sources }, radius, path) {
  const byOutcome = Map.groupBy(catalogs, (/** @type {any} */ { outcome }) => outcome);
  const searched = [...byOutcome].map(([outcome, some]) => {
    const names = some.map((/** @type {any} */ { catalog_name }) => releaseOf(catalog_name)).join(', ');
    const { word = outcome, meaning = '' } = pageData.outcomes[outcome] ?? {};
    return html`<span class="outcome ${outcome}" title=${meaning}>${word}</span>: ${names}. `;
  });
  const isSearched = byOutcome.has('searched');
  const title = isSearched ? `${counted(count, 'catalog source')} within ${radius}″` : 'No catalog could be searched';
  const rows = sources.map((/** @type {any} */ source) => [
    releaseOf(source.catalog_name),
    source.catalog_source_id,
    fixed(source.separation_arcsec, 2),
    source.magnitude === null ? '' : `${source.band} ${fixed(source.magnitude, 2)}`,
    `${source.verdict}: ${source.verdict_reason}`,
  ]);
  return html`
    <section class="near-sources">
      <h2>${title}</h2>
      <p class="hint">${searched}</p>
      ${sources.length > 0 && [resultTable(COLUMNS, rows), sources.length < count && html`<p class="hint">The nearest ${sources.length}.</p>`, downloads(path, 'Download the sources')]}
    </section>`;
}
