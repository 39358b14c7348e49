/** Describes a cell of the map in words, and lists its objects if they are few. */
import { Cells, h3 } from './cells.js';
import { count, counted, sexagesimalDec, sexagesimalRa } from './format.js';
import { asJson, ask, badge, h, mark, pageData, releaseOf, show, showError, showLoading } from './page.js';
import { objectList } from './result_list.js';

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
  const [lat, lng] = h3.cellToLatLng(id);
  const list = h('div', {});
  show(
    panel,
    h(
      'div',
      { class: 'panel-head' },
      h('h3', {}, `${sexagesimalRa((lng + 360) % 360, 0)} ${sexagesimalDec(lat, 0)}`),
      h('span', { class: 'hint' }, `a cell of ${areaText(cells.areaOf(i))}`),
      cells.resolution < FINEST_RESOLUTION && h('button', { type: 'button', click: zoomIn }, 'Zoom in here'),
    ),
    cells.byCatalog ? coverage(cells, i) : statuses(cells, i),
    list,
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
  const present = Object.entries(byStatus).filter(([, column]) => (column[i] ?? 0) > 0);
  return h(
    'ul',
    { class: 'tally' },
    present.map(([status, column]) => h('li', {}, h('strong', {}, count(column[i] ?? 0)), ' ', badge(status))),
  );
}

/** @param {Cells} cells @param {number} i */
function coverage({ byCatalog = {} }, i) {
  return h(
    'ul',
    { class: 'tally' },
    Object.entries(byCatalog).map(([name, column]) =>
      h('li', {}, mark(name), h('strong', {}, `${Math.round((column[i] ?? 0) * 100)} %`), ` in ${releaseOf(name)}`),
    ),
  );
}

/** @param {Element} list @param {Cells} cells @param {number} i @param {AbortSignal} signal */
async function listObjects(list, cells, i, signal) {
  const id = cells.ids[i] ?? '';
  const total = cells.objectsIn(i);
  if (cells.resolution < LISTED_RESOLUTION || total > pageData.maxPositions) {
    show(list, h('p', { class: 'hint' }, `${counted(total, 'object')}: zoom in to list them.`));
    return;
  }
  showLoading(list, 'Looking up its objects');
  const places = await fineCells(id, signal);
  const inputs = places.map((/** @type {string} */ cell) => {
    const [lat, lng] = h3.cellToLatLng(cell);
    return { kind: 'position', ra: (lng + 360) % 360, dec: lat };
  });
  const request = { inputs, radius_arcsec: pageData.maxRadiusArcsec, detail: 'matches' };
  const { results, truncated } = await ask('/api/lookup', { ...asJson(request), signal });
  /** @type {Map<string, any>} */
  const objects = new Map();
  for (const object of results.flatMap((/** @type {any} */ result) => result.objects)) {
    const { separation_arcsec: _, ...rest } = object;
    if (h3.cellToParent(h3.latLngToCell(object.dec, object.ra, FINEST_RESOLUTION), cells.resolution) === id)
      objects.set(object.diaObjectId_str, rest);
  }
  const shown = [...objects.values()];
  show(
    list,
    objectList(shown, 'Objects of the cell'),
    (truncated || shown.length < total) &&
      h('p', { class: 'hint' }, `${count(shown.length)} of ${counted(total, 'object')} are listed.`),
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
  const { cells } = await ask(`/api/sky-map?${query}`, { signal });
  return cells.filter((/** @type {string} */ cell) => h3.cellToParent(cell, resolution) === id);
}
