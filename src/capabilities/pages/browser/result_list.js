/** Objects as a list of links. */

import { verdictOf } from '../../../core/contract/verdict.js';
import { mainMagnitude, mainMagnitudeText } from '../../objects/photometry.js';
import { arcsec, counted, degrees, time } from './format.js';
import { asJson, ask, badge, catalogOf, foundIn, html, mark, pageData, part } from './page.js';
import { chanceText } from './payload.js';
import { root } from './root.js';

/**
 * Loads the objects of a listing with all their data, in the same order.
 * @param {any[]} listed
 */
export async function wholeObjects(listed) {
  if (listed.length === 0) return [];
  const inputs = listed.map(({ diaObjectId_str }) => ({ kind: 'id', diaObjectId: diaObjectId_str }));
  const { results } = await ask(`${root}/api/lookup`, asJson({ inputs, detail: 'full' }));
  return results.flatMap((/** @type {any} */ { objects }) => objects);
}

/**
 * Gives the matches of objects at `matches` the release of their catalog, which at this level only `provenance_sets` has.
 * @param {any[]} objects @param {Record<string, any>} sets of the same answer
 */
export function withReleases(objects, sets) {
  for (const match of objects.flatMap(({ matches = [] }) => matches)) {
    const set = sets[match.provenance_set];
    match.catalog_release = set?.catalogs.find((/** @type {any} */ { name }) => name === match.catalog_name)?.release;
  }
  return objects;
}

/** @param {any[]} objects of the API, at the level `matches` or `full` @param {string} label */
export function objectList(objects, label) {
  return html`<ul class="objects" aria-label=${label}>${objects.map(objectItem)}</ul>`;
}

/** @param {any} object @param {string} catalog */
export function hasSource({ matches }, catalog) {
  return (matches ?? []).some((/** @type {any} */ { catalog_name }) => catalog_name === catalog);
}

/**
 * Sort keys of objects, ascending; objects without a value come last. @type {Record<string, (object: any) => number>}
 */
const ORDERS = {
  separation: object => nearestFirst(object).map(nearness)[0] ?? Number.POSITIVE_INFINITY,
  magnitude: object => {
    const [nearest] = nearestFirst(object);
    const magnitude = mainMagnitude(catalogOf(nearest?.catalog_name)?.photometry, nearest?.catalog_payload)?.magnitude;
    return magnitude ?? Number.POSITIVE_INFINITY;
  },
  event: ({ event_time }) => (event_time ? -Date.parse(event_time) : Number.POSITIVE_INFINITY),
};

const ORDER_NAMES = [
  ['', 'as listed'],
  ['separation', 'separation of the nearest source'],
  ['magnitude', 'magnitude of the nearest source'],
  ['event', 'time of the alert, newest first'],
];

/**
 * Sorts objects by an order; an unknown order leaves them unchanged.
 * @param {any[]} objects @param {string} order
 */
export function sorted(objects, order) {
  const value = ORDERS[order];
  // The difference of two infinities is not a number.
  return value ? objects.toSorted((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0)) : objects;
}

/**
 * A list of objects; if there are several, with a choice of catalog and order above it.
 * @param {any[]} objects at the level `full` @param {string} label @param {boolean} isPart whether there are more
 */
export function sortableList(objects, label, isPart) {
  if (objects.length < 2) return html`<div>${objectList(objects, label)}</div>`;
  const withCounts = pageData.catalogs
    .map(({ name, release }) => ({ name, release, count: objects.filter(object => hasSource(object, name)).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, release, count }) => [name, `${release} (${count})`]);
  const catalogs = [['', `any catalog, or none (${objects.length})`], ...withCounts];
  return part({ catalog: '', order: '' }, (chosen, choose) => {
    /** @param {keyof typeof chosen} key @param {string} text @param {string[][]} options */
    const choice = (key, text, options) => {
      const change = (/** @type {any} */ { target }) => choose({ ...chosen, [key]: target.value });
      const items = options.map(([value, name]) => html`<option value=${value}>${name}</option>`);
      return html`<label class="pick">${text} <select @change=${change}>${items}</select></label>`;
    };
    const having = objects.filter(object => chosen.catalog === '' || hasSource(object, chosen.catalog));
    return html`
      <p class="actions">
        ${choice('catalog', 'Source in', catalogs)}
        ${choice('order', 'Sort by', ORDER_NAMES)}
        ${isPart && html`<span class="hint">Filters and sorting apply to loaded rows only.</span>`}
      </p>
      <div>${objectList(sorted(having, chosen.order), label)}</div>`;
  });
}

/** The sources of an object, nearest first. @param {any} object @returns {any[]} */
export function nearestFirst({ matches }) {
  return (matches ?? []).toSorted((/** @type {any} */ a, /** @type {any} */ b) => nearness(a) - nearness(b));
}

/**
 * The registry's record of the transient in a few words.
 * @param {any} tns
 */
export function transientText(tns) {
  if (!tns?.name) return undefined;
  const redshift = tns.redshift === null ? '' : `, z = ${tns.redshift}`;
  return `${tns.name_prefix ?? ''} ${tns.name}${tns.classification ? `, ${tns.classification}` : ''}${redshift}`.trim();
}

/** @param {any} object */
function objectItem(object) {
  const { diaObjectId_str: id, status, ra, dec, event_time } = object;
  const { separation_arcsec: separation, credible_level: level } = object;
  const transient = transientText(object.tns);
  const sources = nearestFirst(object);
  const away = (/** @type {string} */ value, /** @type {string} */ unit) =>
    html`<span class="separation">${value}<span class="unit"> ${unit}</span></span>`;
  return html`
    <li>
      <a class="id" href="${root}/objects/${id}">${id}</a>
      ${status !== undefined && badge(status)}
      ${separation !== undefined && away(arcsec(separation), 'away')}
      ${level !== undefined && away(`${(100 * level).toFixed(1)} %`, 'level')}
      ${ra !== undefined && html`<span class="place">${ra === null ? 'no valid position' : degrees(ra, dec)}</span>`}
      ${event_time && html`<span class="when" title="Time of the alert">${time(event_time)}</span>`}
      ${transient !== undefined && html`<strong class="transient">${transient}</strong>`}
      ${sources.length > 0 && html`<span class="sources">${sources.map(each => source(each))}</span>`}
    </li>`;
}

/**
 * The separation in arcsec by which sources are compared: at the time of the event, if a proper motion was applied.
 * @param {any} match
 * @returns {number}
 */
export function nearness({ separation_arcsec, separation_at_epoch_arcsec }) {
  return separation_at_epoch_arcsec ?? separation_arcsec;
}

/**
 * A source in a row: its catalog, separation and magnitude.
 * @param {any} match @param {import('./page.js').Child} [more]
 */
export function source(match, more) {
  const { catalog_name: name, catalog_payload: payload } = match;
  const magnitude = mainMagnitudeText(catalogOf(name)?.photometry, payload);
  const bright = magnitude !== undefined && html`<span class="unit">, ${magnitude}</span>`;
  const away = arcsec(nearness(match), pageData.crossmatchRadiusArcsec);
  return html`<span class="source">${mark(name)}${foundIn(match)} ${away}${bright}${more}</span>`;
}

/** What the catalog says of a source. @param {any} source */
export function verdictOfSource({ catalog_name, catalog_payload }) {
  return verdictOf(catalogOf(catalog_name) ?? { name: catalog_name }, catalog_payload);
}

/** A source in a row, with its verdict and the probability that it lies there by chance. @param {any} match */
export function judgedSource(match) {
  const { verdict, reason } = verdictOfSource(match);
  const chance = chanceText(match);
  return source(
    match,
    html`, <strong title=${reason}>${verdict}</strong>${chance && html`, <span class="moment">${chance}</span>`}`,
  );
}

/** @param {number} shown @param {number} total */
export function countLine(shown, total) {
  return shown < total ? `${counted(shown, 'object')} of ${counted(total, 'object')}` : counted(total, 'object');
}

/**
 * Links to the same results as files.
 * @param {string} path of the API, without a format
 * @param {string} [what]
 */
export function downloads(path, what = 'Download') {
  const files = pageData.formats.map(
    ({ name, title }) => html`<a href="${path}&format=${name}" download>${title}</a> `,
  );
  return html`<p class="downloads"><span class="unit">${what}: </span>${files}<a href=${path}>JSON</a></p>`;
}
