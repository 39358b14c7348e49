/** The catalogs' own sources at a position, whether or not an alert is there. */

import { searchedWords } from '../../objects/near_words.js';
import { mainMagnitudeText } from '../../objects/photometry.js';
import { arcsec } from './format.js';
import { ApiError, ask, catalogOf, html, mark, pageData, releaseOf, show, showError, showLoading } from './page.js';
import { percentText } from './payload.js';
import { downloads, verdictOfSource } from './result_list.js';
import { root } from './root.js';

/** @param {{ ra: number, dec: number }} position @param {number} radius arcsec */
export function nearPath({ ra, dec }, radius) {
  return `${root}/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=${radius}`;
}

/**
 * Shows the sources in the place, nearest first, and what was searched; nothing if the service has no such search.
 * @param {Element} place @param {{ ra: number, dec: number }} position @param {number} radiusArcsec
 */
export async function showSources(place, position, radiusArcsec) {
  showLoading(place, 'Searching the catalogs');
  const radius = Math.min(radiusArcsec, pageData.maxSourcesRadiusArcsec);
  const path = nearPath(position, radius);
  try {
    show(place, nearSection(await ask(path), radius, path));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') return show(place);
    showError(place, error, () => void showSources(place, position, radiusArcsec));
  }
}

/**
 * The sources, nearest first, and what was searched.
 * @param {any} near @param {number} radius @param {string} path of the API
 */
export function nearSection(near, radius, path) {
  const { count, sources } = near;
  const { found, outcomes } = searchedWords(near, `${radius}″`);
  const searched = [...outcomes].map(([outcome, names]) => {
    const { word = outcome, meaning = '' } = pageData.outcomes[outcome] ?? {};
    return html`<span class="outcome ${outcome}" title=${meaning}>${word}</span>: ${names.map(releaseOf).join(', ')}. `;
  });
  const cut = sources.length < count && html`<p class="hint">The nearest ${sources.length}.</p>`;
  return html`
    <section class="near">
      <h2>${found}</h2>
      <p class="hint">${searched}</p>
      ${sources.length > 0 && [tableOf(sources), cut, downloads(path, 'Download the sources')]}
    </section>`;
}

/** @param {any[]} sources */
function tableOf(sources) {
  const byDistance = sources.toSorted((a, b) => a.separation_arcsec - b.separation_arcsec);
  return html`
    <div class="scroll" tabindex="0" role="group" aria-label="Sources of the catalogs, nearest first">
      <table class="stacked">
        <thead><tr><th scope="col">Source</th><th scope="col" class="number">Away</th><th scope="col">Magnitude</th><th
          scope="col">Verdict</th><th scope="col">By chance</th></tr></thead>
        <tbody>${byDistance.map(rowOf)}</tbody>
      </table>
    </div>`;
}

/** @param {any} source */
function rowOf(source) {
  const { catalog_name: name, catalog_source_id: id, separation_arcsec, chance_probability: chance } = source;
  const { verdict, reason } = verdictOfSource(source);
  return html`
    <tr>
      <th scope="row">${mark(name)}${releaseOf(name)} <span class="unit figure">${id}</span></th>
      <td class="number" data-head="Away">${arcsec(separation_arcsec, pageData.crossmatchRadiusArcsec)}</td>
      <td>${mainMagnitudeText(catalogOf(name)?.photometry, source.catalog_payload) ?? '–'}</td>
      <td>${verdict} <span class="unit">${reason}</span></td>
      <td class="moment" data-head="By chance">${chance === null ? '–' : percentText(chance)}</td>
    </tr>`;
}
