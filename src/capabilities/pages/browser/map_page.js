/** The front page: the map, its layers and legend, and the selected cell. */
import { showCell } from './cell_panel.js';
import { Cells, cellCount, h3, middleOf } from './cells.js';
import { BINS, coloursOf } from './colours.js';
import { count, counted, sexagesimalDec, sexagesimalRa } from './format.js';
import { ApiError, ask, byId, html, pageData, releaseOf, show } from './page.js';
import { separationDegrees } from './projection.js';
import { root } from './root.js';
import { SkyView } from './sky_view.js';

/** @typedef {import('./cells.js').Layer} Layer */

/** The approximate minimum area of a drawn cell, in square pixels. */
const CELL_PIXELS = 75;
/** The service's limit of cells in an answer. */
const MAX_CELLS = 50_000;
const WHOLE_SKY_RESOLUTION = 3;
const FINEST_RESOLUTION = 7;
/** The coarsest resolution. Coarser cells show too little, and their objects cannot be listed. */
const COARSEST_RESOLUTION = 2;
/** The requested radius relative to the view, so that small moves need no new answer. */
const MARGIN = 1.4;
const FRESH_MS = 15_000;
/** The pause between requests while the service is still counting its objects. */
const COUNTING_MS = 1000;
const SETTLE_MS = 120;
const BUSIEST = 20;

/** @type {Record<Layer, { query: 'objects' | 'coverage', title: string }>} */
const LAYERS = {
  density: { query: 'objects', title: 'Objects per square degree' },
  share: { query: 'objects', title: 'Share of the searched objects that have a catalog source' },
  coverage: { query: 'coverage', title: 'Catalogs that cover the position' },
};

const note = byId('map-note');
const counting = byId('counting');
const panel = byId('cell');
const canvas = /** @type {HTMLCanvasElement} */ (byId('map'));
/** @type {Layer} */
let layer = 'density';
/** @type {{ key: string, layer: 'objects' | 'coverage', resolution: number, middle: { ra: number, dec: number }, radius: number, at: number } | undefined} */
let held;
/** @type {Cells | undefined} */
let cells;
let fetching = new AbortController();
let panelRequest = new AbortController();
/** The opened position whose cell is not loaded yet. @type {{ ra: number, dec: number } | undefined} */
let awaited;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settling;

const view = new SkyView(canvas, { moved: settle, clicked: open, hovered });

byId('layers').addEventListener('change', event => {
  layer = /** @type {Layer} */ (/** @type {HTMLInputElement} */ (event.target).value);
  view.selected = undefined;
  awaited = undefined;
  panel.hidden = true;
  paint();
  settle();
});
document.addEventListener('themechange', paint);
setInterval(() => document.visibilityState === 'visible' && settle(), FRESH_MS);
start();

/** Starts the map at the position and layer in the address, if any. */
function start() {
  const parameters = new URLSearchParams(location.search);
  const named = parameters.get('layer');
  const radio = document.querySelector(
    `#layers input[value="${named === 'coverage' || named === 'share' ? named : 'density'}"]`,
  );
  if (radio instanceof HTMLInputElement) {
    radio.checked = true;
    layer = /** @type {Layer} */ (radio.value);
  }
  const [ra, dec] = ['ra', 'dec'].map(name => Number.parseFloat(parameters.get(name) ?? ''));
  if (ra !== undefined && dec !== undefined && Number.isFinite(ra + dec)) view.look({ ra, dec }, 60);
  else view.look({ ra: 0, dec: 0 }, 1);
}

function settle() {
  clearTimeout(settling);
  settling = setTimeout(() => void update(), SETTLE_MS);
}

/**
 * The finest resolution whose cells are large enough to see and few enough to request.
 * @param {number} radius degrees
 */
function resolutionFor(radius) {
  const share = (1 - Math.cos((Math.min(180, radius) * Math.PI) / 180)) / 2;
  for (let resolution = FINEST_RESOLUTION; resolution > COARSEST_RESOLUTION; resolution--) {
    if (radius >= 180 && resolution > WHOLE_SKY_RESOLUTION) continue;
    const pixels = ((4 * Math.PI) / cellCount(resolution)) * view.scale ** 2;
    if (pixels >= CELL_PIXELS && share * cellCount(resolution) < MAX_CELLS) return resolution;
  }
  return COARSEST_RESOLUTION;
}

/** Requests the cells that the view needs, unless they are loaded. */
async function update() {
  const radius = Math.min(180, view.reachDegrees * MARGIN);
  const resolution = resolutionFor(radius);
  const { query } = LAYERS[layer];
  const isWhole = radius >= 180;
  const isHeld =
    held?.layer === query &&
    held.resolution === resolution &&
    performance.now() - held.at < FRESH_MS &&
    (held.radius >= 180 || separationDegrees(held.middle, view.middle) + view.reachDegrees <= held.radius);
  if (isHeld) return;
  const { ra, dec } = view.middle;
  const disc = isWhole ? '' : `&ra=${ra.toFixed(4)}&dec=${dec.toFixed(4)}&radius_deg=${radius.toPrecision(4)}`;
  const key = `layer=${query}&resolution=${resolution}${disc}&partial=true`;
  fetching.abort();
  fetching = new AbortController();
  if (!cells) note.textContent = 'Loading the map';
  try {
    const answer = await ask(`${root}/api/sky-map?${key}`, { signal: fetching.signal });
    held = {
      key,
      layer: query,
      resolution,
      middle: { ra, dec },
      radius: isWhole ? 180 : radius,
      at: performance.now(),
    };
    cells = new Cells(answer);
    note.textContent = cells.length === 0 ? nothingHere(answer) : '';
    showCounting(answer);
    paint();
    if (awaited) open(awaited);
  } catch (error) {
    if (error instanceof DOMException) return;
    note.textContent = error instanceof ApiError ? error.message : 'The map has a fault: the console says more.';
    if (!(error instanceof ApiError)) throw error;
    if (error.retryable) setTimeout(settle, 2000);
  }
}

/**
 * Shows the number of objects. While the service still counts them, shows the progress; the map then has the objects
 * counted so far.
 * @param {any} answer
 */
function showCounting({ layer: answered, total = 0, uncounted = 0, without_position: unplaced = 0 }) {
  // The coverage layer does not count objects.
  if (answered === 'coverage') return;
  if (uncounted === 0) {
    const without = unplaced > 0 && `, ${count(unplaced)} of them without a position`;
    return show(counting, html`${counted(total, 'object')}${without}`);
  }
  const all = total + uncounted;
  show(
    counting,
    html`
      <progress max=${all} value=${total} aria-label="Objects counted"></progress>
      The service counts its objects: ${count(total)} of ${count(all)} so far`,
  );
  if (held) held.at = Number.NEGATIVE_INFINITY;
  setTimeout(settle, COUNTING_MS);
}

/** @param {any} answer */
function nothingHere({ layer: answered, total, uncounted }) {
  if (answered === 'coverage') return 'No registered catalog covers this position.';
  if (uncounted > 0) return '';
  return total === 0 ? 'The service holds no objects yet.' : 'No Rubin objects here.';
}

/** Colours the cells, and explains the colours in the legend. */
function paint() {
  const shown = cells;
  const fits = shown && (layer === 'coverage' ? shown.byCatalog : shown.byStatus);
  if (!shown || !fits) {
    view.drawn = undefined;
    view.redraw();
    return;
  }
  const values = Array.from({ length: shown.length }, (_, i) => shown.valueOf(layer, i));
  const known = values.filter(value => value !== undefined);
  const range = rangeOf(known);
  const bins = Int8Array.from(values, value => (value === undefined ? -1 : range.binOf(value)));
  const colours = coloursOf(layer);
  view.drawn = { cells: shown, bins, colours };
  view.redraw();
  legend(colours, range.low, range.high);
  table(shown);
}

/** @param {number[]} values */
function rangeOf(values) {
  const clamp = (/** @type {number} */ share) => Math.max(0, Math.min(BINS - 1, Math.round(share * (BINS - 1))));
  if (layer === 'share') return { low: '0 %', high: '100 %', binOf: clamp };
  if (layer === 'coverage') {
    const most = Math.max(1, pageData.catalogs.length);
    return { low: 'part of one', high: `all ${most}`, binOf: (/** @type {number} */ value) => clamp(value / most) };
  }
  const sorted = values.toSorted((a, b) => a - b);
  const high = sorted.at(-1) ?? 0;
  // The range is at least a decade, because cells with one object each differ only in area. The emptiest 3 % of the
  // cells do not extend the range.
  const low = Math.min(sorted[Math.floor(sorted.length * 0.03)] ?? 0, high / 10);
  const span = Math.log(high / low);
  const text = (/** @type {number} */ value) =>
    Number.isFinite(value) ? (value >= 100 ? count(Math.round(value)) : value.toPrecision(2)) : '0';
  const binOf = (/** @type {number} */ value) => clamp(Math.log(value / low) / span);
  return { low: text(low), high: `${text(high)} (logarithmic)`, binOf };
}

/** @param {string[]} colours @param {string} low @param {string} high */
function legend(colours, low, high) {
  const bar = document.createElement('canvas');
  bar.width = BINS;
  bar.height = 1;
  const context = bar.getContext('2d');
  for (const [i, colour] of colours.entries()) {
    if (!context) break;
    context.fillStyle = colour;
    context.fillRect(i, 0, 1, 1);
  }
  bar.setAttribute('aria-hidden', 'true');
  show(
    byId('legend'),
    html`
      <span class="legend-title">${LAYERS[layer].title}</span>
      <span class="ramp">${low}${bar}${high}</span>`,
  );
}

/**
 * The cells with the most objects, for people who do not see the map.
 * @param {Cells} shown
 */
function table(shown) {
  const value = (/** @type {number} */ i) =>
    layer === 'coverage' ? (shown.valueOf('coverage', i) ?? 0) : shown.objectsIn(i);
  const busiest = Array.from({ length: shown.length }, (_, i) => i)
    .sort((a, b) => value(b) - value(a))
    .slice(0, BUSIEST);
  const columns =
    layer === 'coverage'
      ? Object.entries(shown.byCatalog ?? {}).map(([name, column]) => ({
          title: releaseOf(name),
          text: (/** @type {number} */ i) => `${Math.round((column[i] ?? 0) * 100)} %`,
        }))
      : [
          { title: 'Objects', text: (/** @type {number} */ i) => count(shown.objectsIn(i)) },
          {
            title: 'With a source',
            text: (/** @type {number} */ i) => {
              const share = shown.valueOf('share', i);
              return share === undefined ? '–' : `${Math.round(share * 100)} %`;
            },
          },
        ];
  const rows = busiest.map(i => {
    const middle = middleOf(shown.ids[i] ?? '');
    const look = () => {
      view.look(middle, Math.max(view.zoom, zoomTo(shown.resolution)));
      open(middle);
    };
    const place = `${sexagesimalRa(middle.ra, 0)} ${sexagesimalDec(middle.dec, 0)}`;
    return html`
      <tr>
        <th scope="row"><button type="button" class="link" @click=${look}>${place}</button></th>
        ${columns.map(({ text }) => html`<td class="number">${text(i)}</td>`)}
      </tr>`;
  });
  show(
    byId('map-table'),
    html`
      <p class="hint">${counted(shown.length, 'cell')} in view; those with the most:</p>
      <div class="scroll">
        <table>
          <thead><tr>
            <th scope="col">Middle of the cell</th>
            ${columns.map(({ title }) => html`<th scope="col" class="number">${title}</th>`)}
          </tr></thead>
          <tbody>${rows}</tbody>
        </table>
      </div>`,
  );
}

/**
 * A zoom level at which the cells of a resolution look large.
 * @param {number} resolution
 */
function zoomTo(resolution) {
  return Math.sqrt((12_000 * cellCount(resolution)) / (4 * Math.PI)) / (view.scale / view.zoom);
}

/** @param {{ ra: number, dec: number }} position */
function cellAt({ ra, dec }) {
  if (!cells) return undefined;
  const id = h3.latLngToCell(dec, ra, cells.resolution);
  const i = cells.places.get(id);
  return i === undefined ? undefined : { id, i, cells };
}

/**
 * Whether the loaded cells belong to this layer, count every object, and cover this position.
 * @param {{ ra: number, dec: number }} position
 */
function isKnown(position) {
  if (held?.layer !== LAYERS[layer].query || !Number.isFinite(held.at)) return false;
  return held.radius >= 180 || separationDegrees(held.middle, position) <= held.radius;
}

/** @param {{ ra: number, dec: number }} position */
function open(position) {
  const found = cellAt(position);
  panelRequest.abort();
  panelRequest = new AbortController();
  awaited = undefined;
  view.selected = found?.id;
  view.redraw();
  panel.hidden = false;
  if (!found) {
    const { ra, dec } = position;
    const search = `${root}/search?q=${encodeURIComponent(`${ra.toFixed(5)} ${dec < 0 ? '' : '+'}${dec.toFixed(5)}`)}&radius=60`;
    const place = `${sexagesimalRa(ra, 1)} ${sexagesimalDec(dec, 0)}`;
    if (!isKnown(position)) awaited = position;
    const says = awaited ? 'this cell is not loaded, or not counted yet' : 'nothing is in this cell';
    show(panel, html`<p>${place}: ${says}. <a href=${search}>Search 60″ around</a></p>`);
    return;
  }
  const zoomIn = () => {
    view.look(middleOf(found.id), zoomTo(found.cells.resolution));
    canvas.focus();
  };
  void showCell(panel, found.cells, found.i, { zoomIn, signal: panelRequest.signal });
}

/** @param {{ ra: number, dec: number } | undefined} position */
function hovered(position) {
  if (!position) {
    note.textContent = '';
    return;
  }
  const found = cellAt(position);
  const place = `${sexagesimalRa(position.ra, 0)} ${sexagesimalDec(position.dec, 0)}`;
  const has = !found
    ? ''
    : layer === 'coverage'
      ? `: ${coverageText(found)}`
      : `: ${counted(found.cells.objectsIn(found.i), 'object')}${shareText(found)}`;
  note.textContent = `${place}${has}`;
}

/** @param {{ cells: Cells, i: number }} found */
function coverageText({ cells, i }) {
  const covering = Object.entries(cells.byCatalog ?? {}).filter(([, column]) => (column[i] ?? 0) > 0);
  return covering.map(([name, column]) => `${releaseOf(name)} ${Math.round((column[i] ?? 0) * 100)} %`).join(', ');
}

/** @param {{ cells: Cells, i: number }} found */
function shareText({ cells, i }) {
  const share = cells.valueOf('share', i);
  return share === undefined ? '' : `, ${Math.round(share * 100)} % with a source`;
}
