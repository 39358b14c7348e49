/** Describes a cell of the map in words, and lists its objects if they are few. */
import { Cells, h3, middleOf } from './cells.js';
import { count, counted, sexagesimalDec, sexagesimalRa } from './format.js';
import { asJson, ask, badge, html, mark, pageData, releaseOf, show, showError, showLoading } from './page.js';
import { objectList, withReleases } from './result_list.js';
import { root } from './root.js';

/**
 * Cells of this resolution are smaller than the largest search radius, so that a search by position finds everything in
 * them.
 */
const FINEST_RESOLUTION = 7;
/**
 * At coarser resolutions, the disc around a cell is too large for a request at the finest resolution, so the cell's
 * objects are not listed.
 */
const LISTED_RESOLUTION = 2;

/**
 * @param {Element} panel
 * @param {Cells} cells
 * @param {number} i which of them
 * @param {{ zoomIn: () => void, signal: AbortSignal }} options
 */
export async function showCell(panel, cells, i, { zoomIn, signal }) {
  const id = cells.ids[i] ?? '';
  const { ra, dec } = middleOf(id);
  const list = document.createElement('div');
  const closer = html`<button type="button" @click=${zoomIn}>Zoom in here</button>`;
  show(
    panel,
    html`
      <div class="panel-head">
        <h3>${sexagesimalRa(ra, 0)} ${sexagesimalDec(dec, 0)}</h3>
        <span class="hint">a cell of ${areaText(cells.areaOf(i))}</span>
        ${cells.resolution < FINEST_RESOLUTION && closer}
      </div>
      ${cells.byCatalog ? coverage(cells, i) : statuses(cells, i)}
      ${list}`,
  );
  if (!cells.byStatus) return;
  try {
    await listObjects(list, cells, i, signal);
  } catch (error) {
    if (signal.aborted) return;
    showError(list, error, () => void showCell(panel, cells, i, { zoomIn, signal }));
  }
}

/** @param {number} area square degrees */
function areaText(area) {
  return area >= 0.1
    ? `${Number(area.toPrecision(2))} square degrees`
    : `${Number((3600 * area).toPrecision(2))} square arcmin`;
}

/** @param {Cells} cells @param {number} i */
function statuses({ byStatus = {} }, i) {
  const item = (/** @type {[string, ArrayLike<number>]} */ [status, column]) =>
    html`<li><strong>${count(column[i] ?? 0)}</strong> ${badge(status)}</li>`;
  const present = Object.entries(byStatus).filter(([, column]) => (column[i] ?? 0) > 0);
  return html`<ul class="tally">${present.map(item)}</ul>`;
}

/** @param {Cells} cells @param {number} i */
function coverage({ byCatalog = {} }, i) {
  const item = (/** @type {[string, ArrayLike<number>]} */ [name, column]) =>
    html`<li>${mark(name)}<strong>${Math.round((column[i] ?? 0) * 100)} %</strong> in ${releaseOf(name)}</li>`;
  return html`<ul class="tally">${Object.entries(byCatalog).map(item)}</ul>`;
}

/** @param {Element} list @param {Cells} cells @param {number} i @param {AbortSignal} signal */
async function listObjects(list, cells, i, signal) {
  const id = cells.ids[i] ?? '';
  const total = cells.objectsIn(i);
  if (cells.resolution < LISTED_RESOLUTION || total > pageData.maxPositions) {
    show(list, html`<p class="hint">${counted(total, 'object')}: zoom in to list them.</p>`);
    return;
  }
  showLoading(list, 'Looking up its objects');
  const places = await fineCells(id, signal);
  const inputs = places.map((/** @type {string} */ cell) => ({ kind: 'position', ...middleOf(cell) }));
  const request = { inputs, radius_arcsec: pageData.maxRadiusArcsec, detail: 'matches' };
  const { results, truncated, provenance_sets: sets } = await ask(`${root}/api/lookup`, { ...asJson(request), signal });
  /** @type {Map<string, any>} */
  const objects = new Map();
  for (const object of results.flatMap((/** @type {any} */ result) => result.objects)) {
    const { separation_arcsec: _, ...rest } = object;
    if (h3.cellToParent(h3.latLngToCell(object.dec, object.ra, FINEST_RESOLUTION), cells.resolution) === id)
      objects.set(object.diaObjectId_str, rest);
  }
  const shown = [...objects.values()];
  const part = html`<p class="hint">${count(shown.length)} of ${counted(total, 'object')} are listed.</p>`;
  show(
    list,
    html`
      ${objectList(withReleases(shown, sets), 'Objects of the cell')}
      ${(truncated || shown.length < total) && part}`,
  );
}

/**
 * The cells of the finest resolution that contain the objects of a cell.
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function fineCells(id, signal) {
  const resolution = h3.getResolution(id);
  if (resolution === FINEST_RESOLUTION) return [id];
  const [lat, lng] = h3.cellToLatLng(id);
  const corners = h3.cellToBoundary(id).map(corner => h3.greatCircleDistance([lat, lng], corner, 'rads'));
  const radius = (Math.max(...corners) * 180) / Math.PI;
  const query = `resolution=${FINEST_RESOLUTION}&ra=${(lng + 360) % 360}&dec=${lat}&radius_deg=${radius}`;
  const { cells } = await ask(`${root}/api/sky-map?${query}`, { signal });
  return cells.filter((/** @type {string} */ cell) => h3.cellToParent(cell, resolution) === id);
}
