/** The page of an area: the map to draw on, the text, the file, and the objects inside. */
import { Cells } from './cells.js';
import { BINS, coloursOf } from './colours.js';
import { fileDrop, saveButtons } from './files.js';
import { offerFeed, whileVisible } from './following.js';
import { counted, sexagesimalDec, sexagesimalRa } from './format.js';
import { Nearsky } from './nearsky.js';
import { ApiError, ask, byId, errorNotice, html, moreButton, part, show, showError, showLoading } from './page.js';
import { positionOf, separationDegrees, vectorOf } from './projection.js';
import { objectList, withReleases } from './result_list.js';
import { root } from './root.js';
import { circleText, outlineOf, polygonText } from './shapes.js';
import { SkyView } from './sky_view.js';

/** @typedef {import('./projection.js').Position} Position */

const PAGE_SIZE = 50;
const RESOLUTION = 3;
/** When the map shows the whole sky, an area of this radius fills it. */
const VIEW_DEGREES = 60;
/** The pause between requests while the service counts its objects. */
const COUNTING_MS = 1000;
/** The number of newest objects that are shown while the area is followed. */
const SHOWN_CHANGES = 50;
/** Some servers refuse longer addresses. */
const MAX_ADDRESS = 2000;
/** The regions of a sky map that are drawn, besides the one that is searched. */
const LEVELS = [0.5, 0.9];
/** The dashes of the lines around them, and around the region of another level. */
const DASHES = [[], [8, 5]];
const DOTS = [2, 4];

const form = /** @type {HTMLFormElement} */ (byId('area'));
const text = /** @type {HTMLTextAreaElement} */ (byId('area-text'));
const level = byId('level');
const results = byId('results');
const drawing = byId('drawing');
/** @type {File | undefined} */
let file;
/** The clicked positions of the area that is being drawn. @type {Position[]} */
let clicked = [];
/** The number of the search whose answer is shown. */
let search = 0;
/** @type {Cells | undefined} */
let cells;
/** Ends when another search begins. */
let followed = new AbortController();

form.hidden = false;
const view = new SkyView(/** @type {HTMLCanvasElement} */ (byId('map')), { moved: () => {}, clicked: click, hovered });
view.look({ ra: 0, dec: 0 }, 1);
void loadCells();
document.addEventListener('themechange', paint);
form.addEventListener('submit', event => {
  event.preventDefault();
  void run();
});
byId('shape').addEventListener('change', () => begin(''));
byId('clear').addEventListener('click', () => begin(''));
text.addEventListener('input', () => begin(text.value));
fileDrop(byId('drop'), /** @type {HTMLInputElement} */ (byId('file')), take);
addEventListener('popstate', showEntry);
showEntry();

/** Shows the area of the current history entry: the area in the address, or one that was too long for an address. */
function showEntry() {
  search++;
  begin(areaOfEntry());
  if (text.value === '') {
    offerFeed(undefined);
    return show(results);
  }
  lookAt(view.outline);
  void run();
}

/** @returns {string} */
function areaOfEntry() {
  return history.state?.area ?? new URLSearchParams(location.search).get('area') ?? '';
}

/**
 * Adds a search to the history, unless it is the current entry. A file cannot be stored there.
 * @param {string | File} area
 */
function remember(area) {
  const kept = typeof area === 'string' ? area : '';
  const long = kept === '' ? `${root}/area` : `${root}/area?area=${encodeURIComponent(kept)}`;
  if (kept !== '' && kept === areaOfEntry()) return;
  history.pushState({ area: kept }, '', long.length <= MAX_ADDRESS ? long : `${root}/area`);
}

/** Begins another area. @param {string} typed */
function begin(typed) {
  clicked = [];
  file = undefined;
  byId('chosen').textContent = 'Or choose a file, or drop it here';
  level.hidden = true;
  drawContours([]);
  if (text.value !== typed) text.value = typed;
  outline(typed);
  prompt();
}

/** @param {File} chosen */
function take(chosen) {
  begin('');
  file = chosen;
  byId('chosen').textContent = chosen.name;
  level.hidden = false;
  void run();
}

/** @param {string} area */
function outline(area) {
  view.outline = outlineOf(area);
  view.redraw();
}

function isCircle() {
  return new FormData(form).get('shape') === 'circle';
}

function prompt() {
  const corners = clicked.length;
  if (isCircle()) drawing.textContent = corners === 1 ? 'Click the edge of the circle' : 'Click the middle of a circle';
  else
    drawing.textContent =
      corners < 3 ? `Click corner ${corners + 1} of the polygon` : `${corners} corners: Search, or click another`;
}

/** @param {Position} position */
function click(position) {
  const isLast = isCircle() && clicked.length === 1;
  const corners = [...clicked, position];
  begin(isCircle() ? (isLast ? circleText(corners[0] ?? position, position) : '') : polygonText(corners));
  clicked = isLast ? [] : corners;
  prompt();
  if (isLast) void run();
}

/**
 * Shows the position under the pointer, and the circle that a click there would make.
 * @param {Position | undefined} position
 */
function hovered(position) {
  byId('map-note').textContent = position ? `${sexagesimalRa(position.ra, 0)} ${sexagesimalDec(position.dec, 0)}` : '';
  const [middle] = clicked;
  if (position && middle && isCircle()) outline(circleText(middle, position));
}

/** Turns the map to an outline, if there is one. @param {Position[]} outline */
function lookAt(outline) {
  const vectors = outline.map(({ ra, dec }) => vectorOf(ra, dec));
  const middle = positionOf([0, 1, 2].map(axis => vectors.reduce((sum, vector) => sum + (vector[axis] ?? 0), 0)));
  const extent = Math.max(0.1, ...outline.map(each => separationDegrees(middle, each)));
  if (outline.length > 0) view.look(middle, VIEW_DEGREES / extent);
}

/**
 * Draws the region as the service has read it: the credible regions of a sky map, or the outline of an area that this
 * page cannot draw by itself. One answer has all regions; only a level below 0.9 that is not a usual one needs another.
 * @param {string | File} area @param {number | null} searched the level of a sky map @param {number} own the search
 */
async function loadContours(area, searched, own) {
  if (view.outline.length > 0) return;
  const outlineAt = (/** @type {number | null} */ level) =>
    ask(
      `${root}/api/area?${new URLSearchParams({ response: 'outline', ...(level !== null && { level: `${level}` }) })}`,
      {
        method: 'POST',
        body: area,
      },
    );
  try {
    const widest = searched === null ? null : Math.max(searched, ...LEVELS);
    const answer = await outlineAt(widest);
    const contours = [...(answer.contours ?? []), { level: widest ?? undefined, edges: answer.edges }];
    if (searched !== null && !contours.some(({ level }) => level === searched))
      contours.unshift({ level: searched, edges: (await outlineAt(searched)).edges });
    if (own !== search) return;
    drawContours(
      contours.map(({ level, edges }) => ({ level, edges, dashes: DASHES[LEVELS.indexOf(level ?? 0.5)] ?? DOTS })),
    );
    lookAt(contours.flatMap(({ edges }) => edges.map(([ra = 0, dec = 0]) => ({ ra, dec }))));
  } catch (error) {
    // The objects are listed all the same.
    if (!(error instanceof ApiError)) throw error;
  }
}

/** @param {{ edges: number[][], dashes: number[], level: number | undefined }[]} contours */
function drawContours(contours) {
  view.contours = contours;
  view.redraw();
  const keys = byId('contours');
  const named = contours.filter(({ level }) => level !== undefined);
  keys.hidden = named.length === 0;
  const line = (/** @type {number[]} */ dashes) => html`<svg class="contour" viewBox="0 0 28 4" aria-hidden="true"><path
    d="M0 2h28" stroke-dasharray=${dashes.join(' ') || 'none'} /></svg>`;
  show(
    keys,
    named.map(({ level = 0, dashes }) => html`<li>${line(dashes)}${percentOf(level)} region</li>`),
  );
}

/** @param {number} share */
const percentOf = share => `${Math.round(1000 * share) / 10} %`;

/** The level of a sky map; undefined for the usual one, or another kind of area. */
function chosenLevel() {
  return (!level.hidden && level.querySelector('input')?.value.trim()) || undefined;
}

/** The parameters of a request. @param {Record<string, string>} parameters */
function address(parameters) {
  const share = chosenLevel();
  return `${root}/api/area?${new URLSearchParams({ ...parameters, ...(share && { level: share }) })}`;
}

async function run() {
  const area = file ?? text.value.trim();
  if (area === '') return show(results, html`<p class="hint">Draw an area, type it, or choose a file.</p>`);
  const own = ++search;
  followed.abort();
  remember(area);
  const feed = typeof area === 'string' ? `${root}/feeds/objects?area=${encodeURIComponent(area)}` : '';
  offerFeed(feed !== '' && feed.length <= MAX_ADDRESS ? feed : undefined);
  showLoading(results, 'Searching');
  try {
    const post = { method: 'POST', body: area };
    const first = await ask(address({ detail: 'matches', page_size: `${PAGE_SIZE}` }), post);
    const { area: read, objects, next_cursor: next } = first;
    if (own === search) void loadContours(area, read.level, own);
    const total = next === null ? objects.length : (await ask(address({ response: 'count' }), post)).total;
    if (own !== search) return;
    const share = read.level === null ? '' : ` in the ${percentOf(read.level)} region`;
    show(
      results,
      html`
        <h2>${counted(total, 'object')}${share}</h2>
        ${total > 0 && downloads(area)}
        ${live(area)}
        ${list(area, first)}`,
    );
  } catch (error) {
    if (own === search) showError(results, error, run);
  }
}

/** The objects, page by page. @param {string | File} area @param {any} page the first */
function list(area, page) {
  /** @type {{ pages: any[], failure?: import('./page.js').Child }} */
  const first = { pages: [page] };
  return part(first, ({ pages, failure }, change) => {
    const cursor = pages.at(-1).next_cursor;
    const next = async () => {
      try {
        const path = address({ detail: 'matches', page_size: `${PAGE_SIZE}`, cursor });
        change({ pages: [...pages, await ask(path, { method: 'POST', body: area })] });
      } catch (error) {
        change({ pages, failure: html`<div>${errorNotice(error, next)}</div>` });
      }
    };
    return html`
      <div>
        ${pages.map(({ objects, provenance_sets: sets }) =>
          objectList(withReleases(objects, sets), 'Objects in the area'),
        )}
        ${failure ?? (cursor !== null && moreButton(next))}
      </div>`;
  });
}

/**
 * A switch, and the objects of the area that are stored or crossmatched while it is on. A hidden page holds no
 * connection, because a browser has few to one service; it catches up when it is shown.
 * @param {string | File} area
 */
function live(area) {
  followed = new AbortController();
  const { signal: ends } = followed;
  const share = chosenLevel();
  /** Set while the switch is on. @type {AbortController | undefined} */
  let on;
  /** @type {import('./nearsky.js').Watch<import('./nearsky.js').StreamedObject> | undefined} */
  let watch;
  /** The position after which the next connection continues. @type {string | undefined} */
  let after;
  /** The newest change of each object, the newest first. @type {any[]} */
  let changed = [];
  /** @type {import('./page.js').Child} */
  let failure;
  /** @type {(state: undefined) => void} */
  let redraw = () => {};

  const turnOff = () => {
    on?.abort();
    on = undefined;
  };
  /** @param {AbortSignal} signal */
  async function read(signal) {
    const service = new Nearsky(location.origin + root, { signal });
    after = watch?.lastId ?? after;
    const asked = { area, ...(share && { level: Number(share) }), ...(after !== undefined && { after }) };
    try {
      watch = service.watch('objects', asked);
      for await (const object of watch) {
        const id = `${object.diaObjectId}`;
        const others = changed.filter(({ diaObjectId_str }) => diaObjectId_str !== id);
        const shown = object.change === 'removed' ? [] : [{ ...object, diaObjectId_str: id }];
        changed = [...shown, ...others].slice(0, SHOWN_CHANGES);
        redraw(undefined);
      }
    } catch (error) {
      if (signal.aborted) return;
      turnOff();
      failure = html`<p class="notice">${error instanceof Error ? error.message : `${error}`}</p>`;
      redraw(undefined);
    }
  }

  return part(undefined, (_, draw) => {
    redraw = draw;
    const turn = (/** @type {any} */ { target }) => {
      failure = undefined;
      turnOff();
      if (target.checked) {
        on = new AbortController();
        whileVisible(read, AbortSignal.any([ends, on.signal]));
      }
      draw(undefined);
    };
    return html`
      <div aria-live="off">
        <p class="actions"><label class="pick"><input type="checkbox" .checked=${on !== undefined} @change=${turn}> Follow live</label>
        <span class="hint" role="status">${on && (changed.length === 0 ? 'Waiting for new alerts in the area' : 'Newest first')}</span></p>
        ${failure}
        ${changed.length > 0 && objectList(changed, 'New in the area')}
      </div>`;
  });
}

/** All objects as files. @param {string | File} area */
function downloads(area) {
  return saveButtons('area', format =>
    fetch(address({ response: 'table', detail: 'full', format }), { method: 'POST', body: area }),
  );
}

/** Loads the objects of the whole sky, which are drawn below the area. The map also works without them. */
async function loadCells() {
  try {
    const answer = await ask(`${root}/api/sky-map?layer=objects&resolution=${RESOLUTION}&partial=true`);
    cells = new Cells(answer);
    paint();
    if (answer.uncounted > 0) setTimeout(loadCells, COUNTING_MS);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

function paint() {
  const shown = cells;
  if (shown) {
    const counts = Array.from({ length: shown.length }, (_, i) => shown.objectsIn(i));
    const span = Math.log(Math.max(10, ...counts));
    const bins = Int8Array.from(counts, each => (each > 0 ? Math.round((Math.log(each) / span) * (BINS - 1)) : -1));
    view.drawn = { cells: shown, bins, colours: coloursOf('density') };
  }
  view.redraw();
}
