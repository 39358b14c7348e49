/** The map on its canvas: the view, the drawing, and the controls. */
import { cellCount } from './cells.js';
import { BINS } from './colours.js';
import { fixed, hours } from './format.js';
import { byId } from './page.js';
import { Projection, SEMI_MAJOR, SEMI_MINOR, vectorOf } from './projection.js';
import { SKY_LINES } from './sky_lines.js';

/**
 * @typedef {import('./projection.js').Position} Position
 * @typedef {{ cells: import('./cells.js').Cells, bins: Int8Array, colours: string[] }} Drawn `bins` has -1 for a cell that is not drawn
 */

const DEGREES = 180 / Math.PI;
const MAX_ZOOM = 900;
const STEP_ZOOM = 1.8;
/** A press that moves less than this is a click; CSS pixels. */
const CLICK_PIXELS = 5;
const GRATICULE_STEPS = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05];

export class SkyView {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{ moved: () => void, clicked: (position: Position) => void, hovered: (position: Position | undefined) => void }} on
   */
  constructor(canvas, on) {
    this.canvas = canvas;
    this.on = on;
    /** @type {Position} */
    this.middle = { ra: 0, dec: 0 };
    this.zoom = 1;
    /** @type {Drawn | undefined} */
    this.drawn = undefined;
    /** @type {string | undefined} */
    this.selected = undefined;
    /** A line that is drawn over the cells; degrees. @type {Position[]} */
    this.outline = [];
    /** Edges that are drawn over the cells, four degrees each, with the dashes of their lines. @type {{ edges: number[][], dashes: number[] }[]} */
    this.contours = [];
    this.width = 1;
    this.height = 1;
    this.projection = new Projection(this.middle);
    this.frame = 0;
    this.#listen();
    byId('zoom-in').addEventListener('click', () => this.zoomBy(STEP_ZOOM));
    byId('zoom-out').addEventListener('click', () => this.zoomBy(1 / STEP_ZOOM));
    byId('whole').addEventListener('click', () => this.look({ ra: 0, dec: 0 }, 1));
    new ResizeObserver(() => this.#resize()).observe(canvas);
  }

  /** CSS pixels per unit of the projection. */
  get scale() {
    const margin = 0.985;
    return Math.min(this.width / (2 * SEMI_MAJOR), this.height / (2 * SEMI_MINOR)) * margin * this.zoom;
  }

  /** The angle from the middle to the corner of the view, degrees; at most 180. */
  get reachDegrees() {
    const half = Math.hypot(this.width, this.height) / 2 / this.scale;
    return this.zoom < 3 ? 180 : Math.min(180, half * DEGREES);
  }

  /** @param {Position} middle @param {number} [zoom] */
  look(middle, zoom = this.zoom) {
    this.middle = { ra: ((middle.ra % 360) + 360) % 360, dec: Math.max(-90, Math.min(90, middle.dec)) };
    this.zoom = Math.max(1, Math.min(MAX_ZOOM, zoom));
    this.projection = new Projection(this.middle);
    this.canvas.classList.toggle('zoomed', this.zoom > 1);
    this.redraw();
    this.on.moved();
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.look(this.middle, this.zoom * factor);
  }

  redraw() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#draw();
    });
  }

  #resize() {
    const { width, height } = this.canvas.getBoundingClientRect();
    if (width === 0 || height === 0) return;
    const ratio = Math.min(3, devicePixelRatio);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    // Immediately, because a printed page has no next frame.
    this.#draw();
    this.on.moved();
  }

  /** @param {number} x @param {number} y CSS pixels within the canvas */
  positionAt(x, y) {
    return this.projection.positionAt((x - this.width / 2) / this.scale, (this.height / 2 - y) / this.scale);
  }

  #draw() {
    const context = this.canvas.getContext('2d');
    if (!context) return;
    const style = getComputedStyle(this.canvas);
    const ratio = this.canvas.width / this.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    context.save();
    context.beginPath();
    const { scale } = this;
    context.ellipse(this.width / 2, this.height / 2, SEMI_MAJOR * scale, SEMI_MINOR * scale, 0, 0, 2 * Math.PI);
    context.fillStyle = style.textDecorationColor;
    context.fill();
    context.clip();
    if (this.drawn) this.#drawCells(context, this.drawn);
    this.#drawSkyLines(context, style.textDecorationColor);
    this.#drawGraticule(context, style.color, style.textDecorationColor);
    this.#drawOutline(context, style.columnRuleColor);
    context.restore();
    context.strokeStyle = style.borderBottomColor;
    context.beginPath();
    context.ellipse(this.width / 2, this.height / 2, SEMI_MAJOR * scale, SEMI_MINOR * scale, 0, 0, 2 * Math.PI);
    context.stroke();
    if (document.activeElement === this.canvas && this.canvas.matches(':focus-visible'))
      this.#drawCrosshair(context, style.color);
  }

  /** @param {CanvasRenderingContext2D} context @param {Drawn} drawn */
  #drawCells(context, { cells, bins, colours }) {
    /** @type {number[][]} */
    const byBin = Array.from({ length: BINS }, () => []);
    for (let i = 0; i < cells.length; i++) byBin[bins[i] ?? -1]?.push(i);
    // Small cells are enlarged so that they can be seen.
    const cellPixels = this.scale * Math.sqrt((4 * Math.PI) / cellCount(cells.resolution));
    context.lineWidth = cellPixels < 6 ? 2 : 0.6;
    for (const [bin, members] of byBin.entries()) {
      if (members.length === 0) continue;
      context.beginPath();
      for (const i of members) this.#trace(context, cells, i);
      context.fillStyle = colours[bin] ?? '';
      context.strokeStyle = context.fillStyle;
      context.fill();
      // Without this stroke, the background shows between neighbouring cells.
      context.stroke();
    }
    const selected = this.selected === undefined ? undefined : cells.places.get(this.selected);
    if (selected === undefined) return;
    context.beginPath();
    this.#trace(context, cells, selected);
    context.lineWidth = 2.5;
    context.strokeStyle = getComputedStyle(this.canvas).columnRuleColor;
    context.stroke();
  }

  /**
   * Adds the outline of a cell to the path.
   * @param {CanvasRenderingContext2D} context
   * @param {import('./cells.js').Cells} cells
   * @param {number} i
   */
  #trace(context, { starts, corners }, i) {
    const { scale } = this;
    const [left, top] = [this.width / 2, this.height / 2];
    this.projection.trace(corners, starts[i] ?? 0, starts[i + 1] ?? 0, {
      moveTo: (x, y) => context.moveTo(left + x * scale, top - y * scale),
      lineTo: (x, y) => context.lineTo(left + x * scale, top - y * scale),
      closePath: () => context.closePath(),
    });
  }

  /**
   * Draws the lines in the colours of the key below the map. Each line has a margin in the background colour, because
   * it crosses cells of any colour.
   * @param {CanvasRenderingContext2D} context
   * @param {string} paper
   */
  #drawSkyLines(context, paper) {
    for (const { name, at } of SKY_LINES) {
      const sample = document.querySelector(`.line.${name}`);
      if (!sample) continue;
      const { borderTopColor, borderTopStyle } = getComputedStyle(sample);
      context.beginPath();
      this.#line(context, at, 720);
      context.globalAlpha = 0.7;
      context.strokeStyle = paper;
      context.lineWidth = 4;
      context.stroke();
      context.globalAlpha = 1;
      context.strokeStyle = borderTopColor;
      context.lineWidth = 1.5;
      context.setLineDash(borderTopStyle === 'dashed' ? [7, 4] : borderTopStyle === 'dotted' ? [2, 3] : []);
      context.stroke();
      context.setLineDash([]);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {string} colour */
  #drawOutline(context, colour) {
    const { outline } = this;
    context.beginPath();
    this.#line(context, t => outline[Math.round(t * (outline.length - 1))], Math.max(1, outline.length - 1));
    context.strokeStyle = colour;
    context.lineWidth = 2.5;
    context.stroke();
    for (const { edges, dashes } of this.contours) {
      context.beginPath();
      for (const [ra = 0, dec = 0, toRa = 0, toDec = 0] of edges)
        this.#line(context, t => (t === 0 ? { ra, dec } : { ra: toRa, dec: toDec }), 1);
      context.setLineDash(dashes);
      context.stroke();
      context.setLineDash([]);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {string} colour @param {string} paper the background of labels */
  #drawGraticule(context, colour, paper) {
    const span = (Math.min(this.width, this.height) / this.scale) * DEGREES;
    const step = GRATICULE_STEPS.find(each => span / each >= 3) ?? 0.05;
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = 0.5;
    context.globalAlpha = 0.35;
    const reach = this.reachDegrees;
    const decReach = Math.min(90, reach);
    const [south, north] = [Math.max(-90, this.middle.dec - decReach), Math.min(90, this.middle.dec + decReach)];
    const isPolar = Math.max(Math.abs(south), Math.abs(north)) > 80;
    const raReach =
      isPolar || reach > 60
        ? 180
        : Math.min(180, reach / Math.cos((Math.max(Math.abs(south), Math.abs(north)) * Math.PI) / 180));
    const raStep =
      isPolar && reach < 60
        ? Math.max(step, 15)
        : raReach < 180
          ? niceStep(step / Math.cos((this.middle.dec * Math.PI) / 180))
          : Math.max(step, 30);
    context.beginPath();
    for (let ra = ceilTo(this.middle.ra - raReach, raStep); ra <= this.middle.ra + raReach; ra += raStep)
      this.#line(context, t => ({ ra, dec: south + (north - south) * t }));
    for (let dec = ceilTo(south, step); dec <= north; dec += step)
      this.#line(context, t => ({ ra: this.middle.ra - raReach + 2 * raReach * t, dec }));
    context.stroke();
    context.globalAlpha = 0.9;
    context.font = '11px system-ui, sans-serif';
    context.strokeStyle = paper;
    context.lineWidth = 3;
    context.lineJoin = 'round';
    this.#labels(context, step, raStep, raReach, south, north);
    context.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} context @param {number} step @param {number} raStep @param {number} raReach @param {number} south @param {number} north */
  #labels(context, step, raStep, raReach, south, north) {
    const isWhole = this.zoom < 3;
    // On the whole sky, labels lie along the equator and the central meridian; otherwise along the lower and the left
    // edge.
    const edge = 26;
    const along = isWhole
      ? { ra: this.middle.ra, dec: 0 }
      : {
          ra: this.positionAt(edge, this.height / 2)?.ra ?? this.middle.ra,
          dec: this.positionAt(this.width / 2, this.height - edge / 2)?.dec ?? this.middle.dec,
        };
    context.textAlign = 'center';
    for (let ra = ceilTo(this.middle.ra - raReach, raStep); ra < this.middle.ra + raReach; ra += raStep) {
      const point = this.#pixels({ ra, dec: along.dec });
      const isAtRim = isWhole && Math.abs(ra - this.middle.ra) > 175;
      if (point && !isAtRim) label(context, hours(ra), { x: point.x, y: point.y + (isWhole ? 17 : 0) });
    }
    const digits = step < 0.1 ? 2 : step < 1 ? 1 : 0;
    for (let dec = ceilTo(south, step); dec <= north; dec += step) {
      const text = fixed(dec, digits);
      const point = this.#pixels({ ra: along.ra, dec });
      // The labels of the hours lie on the equator.
      if (!point || Math.abs(dec) >= 89 || (isWhole && Number(text.replace('−', '-')) === 0)) continue;
      label(context, `${dec > 0 && Number(text) !== 0 ? '+' : ''}${text}°`, point);
    }
  }

  /**
   * Computes the canvas point of a position.
   *
   * @param {number} ra
   * @param {number} dec degrees
   * @param {{ x: number, y: number }} point receives the result
   */
  #toCanvas(ra, dec, point) {
    this.projection.project(...vectorOf(ra, dec), 0, point);
    return { x: this.width / 2 + point.x * this.scale, y: this.height / 2 - point.y * this.scale };
  }

  /** @param {Position} position */
  #pixels({ ra, dec }) {
    const { x, y } = this.#toCanvas(ra, dec, { x: 0, y: 0 });
    return x > 14 && x < this.width - 14 && y > 14 && y < this.height - 4 ? { x, y } : undefined;
  }

  /** @param {CanvasRenderingContext2D} context @param {(t: number) => Position | undefined} at from 0 to 1; undefined leaves a gap @param {number} [pieces] */
  #line(context, at, pieces = 60) {
    const point = { x: 0, y: 0 };
    let before = Number.NaN;
    for (let piece = 0; piece <= pieces; piece++) {
      const position = at(piece / pieces);
      if (!position) {
        before = Number.NaN;
        continue;
      }
      const { x, y } = this.#toCanvas(position.ra, position.dec, point);
      // A jump means that the line crosses the seam.
      if (Math.abs(point.x - before) < 1) context.lineTo(x, y);
      else context.moveTo(x, y);
      before = point.x;
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {string} colour */
  #drawCrosshair(context, colour) {
    const [x, y] = [this.width / 2, this.height / 2];
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.stroke(new Path2D(`M${x - 12} ${y}h8m8 0h8M${x} ${y - 12}v8m0 8v8`));
  }

  #listen() {
    const { canvas } = this;
    /** @type {Map<number, { x: number, y: number }>} */
    const pressed = new Map();
    let moved = 0;
    const at = (/** @type {MouseEvent} */ event) => {
      const box = canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    canvas.addEventListener('pointerdown', event => {
      canvas.setPointerCapture(event.pointerId);
      pressed.set(event.pointerId, at(event));
      moved = pressed.size > 1 ? CLICK_PIXELS : 0;
    });
    canvas.addEventListener('pointermove', event => {
      const now = at(event);
      const before = pressed.get(event.pointerId);
      if (!before) return this.on.hovered(this.positionAt(now.x, now.y));
      moved += Math.hypot(now.x - before.x, now.y - before.y);
      const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
      pressed.set(event.pointerId, now);
      if (other) this.zoomBy(distance(now, other) / Math.max(1, distance(before, other)));
      else if (moved >= CLICK_PIXELS) this.#drag(before, now);
    });
    const lifted = (/** @type {PointerEvent} */ event) => {
      const place = pressed.get(event.pointerId);
      pressed.delete(event.pointerId);
      if (!place || event.type === 'pointercancel' || moved >= CLICK_PIXELS) return;
      const position = this.positionAt(place.x, place.y);
      if (position) this.on.clicked(position);
    };
    canvas.addEventListener('pointerup', lifted);
    canvas.addEventListener('pointercancel', lifted);
    canvas.addEventListener('pointerleave', () => this.on.hovered(undefined));
    canvas.addEventListener('wheel', event => this.#wheel(event, at(event)), { passive: false });
    canvas.addEventListener('keydown', event => this.#key(event));
    for (const type of ['focus', 'blur']) canvas.addEventListener(type, () => this.redraw());
  }

  /** @param {{ x: number, y: number }} before @param {{ x: number, y: number }} now */
  #drag(before, now) {
    const east = ((now.x - before.x) / this.scale) * DEGREES;
    const north = ((now.y - before.y) / this.scale) * DEGREES;
    const cosDec = Math.max(0.05, Math.cos(this.middle.dec / DEGREES));
    this.look({ ra: this.middle.ra + east / cosDec, dec: this.middle.dec + north });
  }

  /**
   * Zooms at the pointer. If the whole sky is visible, further zooming out is impossible, and the page scrolls instead.
   * @param {WheelEvent} event
   * @param {{ x: number, y: number }} place
   */
  #wheel(event, place) {
    if (this.zoom <= 1 && event.deltaY > 0 && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    const target = this.positionAt(place.x, place.y);
    this.zoomBy(Math.exp(-event.deltaY * 0.002));
    const now = this.positionAt(place.x, place.y);
    if (!target || !now || this.zoom <= 1.01) return;
    const dRa = ((target.ra - now.ra + 540) % 360) - 180;
    this.look({ ra: this.middle.ra + dRa, dec: this.middle.dec + target.dec - now.dec });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = 40;
    /** @type {Record<string, () => void>} */
    const actions = {
      ArrowLeft: () => this.#drag({ x: 0, y: 0 }, { x: step, y: 0 }),
      ArrowRight: () => this.#drag({ x: step, y: 0 }, { x: 0, y: 0 }),
      ArrowUp: () => this.#drag({ x: 0, y: 0 }, { x: 0, y: step }),
      ArrowDown: () => this.#drag({ x: 0, y: step }, { x: 0, y: 0 }),
      '+': () => this.zoomBy(STEP_ZOOM),
      '=': () => this.zoomBy(STEP_ZOOM),
      '-': () => this.zoomBy(1 / STEP_ZOOM),
      0: () => this.look({ ra: 0, dec: 0 }, 1),
      Enter: () => this.on.clicked(this.middle),
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }
}

/** @param {{ x: number, y: number }} a @param {{ x: number, y: number }} b */
const distance = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);

/**
 * Draws text above a place. The text has a margin in the colour of the sky, because it may lie on cells of any colour.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {{ x: number, y: number }} place
 */
function label(context, text, { x, y }) {
  context.strokeText(text, x, y - 3);
  context.fillText(text, x, y - 3);
}

/** @param {number} value @param {number} step */
const ceilTo = (value, step) => Math.ceil(value / step - 1e-9) * step;

/**
 * The smallest of the steps that is at least `step`.
 * @param {number} step
 */
const niceStep = step => GRATICULE_STEPS.findLast(each => each >= step) ?? 30;
