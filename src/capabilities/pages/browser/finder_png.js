/**
 * Makes a PNG of the finder. The finder is drawn again on a canvas, because showing the SVG as an image would need an
 * address that the pages' policy forbids.
 */

/** Pixels of the PNG by unit of the drawing. */
const SCALE = 4;
const CAPTION = 20;
/** The height of a line of the legend. */
const LINE = 15;

/**
 * @param {SVGSVGElement} finder as shown, in the colours of the current theme
 * @param {{ caption: string, keys: Iterable<Element>, lines: readonly { catalog: string, text: string }[] }} words `keys`
 * are the entries of the legend as shown, `lines` name sources
 * @param {HTMLImageElement | null} [image] the survey image under the drawing
 * @returns {Promise<Blob>}
 */
export async function finderPng(finder, { caption, keys, lines }, image) {
  const { width, height } = finder.viewBox.baseVal;
  const canvas = document.createElement('canvas');
  const legend = [...keys].map(key => ({ drawing: key.querySelector('svg'), text: key.textContent?.trim() ?? '' }));
  const markOf = (/** @type {string} */ catalog) =>
    legend.find(({ drawing }) => drawing?.querySelector(`.${CSS.escape(catalog)}`))?.drawing;
  const rows = [
    // Two entries of the legend in a row; the sources have a row each.
    ...legend.map((each, i) => ({ ...each, x: (i % 2) * (width / 2), row: i >> 1 })),
    ...lines.map(({ catalog, text }, i) => ({
      drawing: markOf(catalog),
      text,
      x: 0,
      row: Math.ceil(legend.length / 2) + 0.5 + i,
    })),
  ];
  const total = height + CAPTION + LINE * (1 + Math.max(0, ...rows.map(({ row }) => row + 1)));
  [canvas.width, canvas.height] = [width * SCALE, total * SCALE];
  const context = canvas.getContext('2d');
  if (!context) throw new Error('The browser gives no canvas');
  context.scale(SCALE, SCALE);
  context.fillStyle = getComputedStyle(document.body).backgroundColor;
  context.fillRect(0, 0, width, total);
  const frame = finder.querySelector('rect');
  if (image && frame) {
    const { x, y, width: side } = frame.getBBox();
    context.drawImage(image, x, y, side, side);
  }
  drawAll(context, finder, finder);
  context.fillStyle = getComputedStyle(document.body).color;
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  context.fillText(caption, width / 2, height + CAPTION / 2);
  context.textAlign = 'left';
  for (const { drawing, text, x, row } of rows) {
    context.save();
    context.translate(x + 22, height + CAPTION + LINE * (row + 0.7));
    if (drawing) drawAll(context, drawing, finder);
    context.fillText(text, 14, 4);
    context.restore();
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(blob => (blob ? resolve(blob) : reject(new Error('The browser makes no PNG')))),
  );
}

/** @param {CanvasRenderingContext2D} context @param {Element} drawing @param {SVGSVGElement} finder has the hatching */
function drawAll(context, drawing, finder) {
  for (const element of drawing.querySelectorAll('path, circle, rect, text'))
    if (!element.closest('pattern')) draw(context, /** @type {SVGGraphicsElement} */ (element), finder);
}

/** @param {CanvasRenderingContext2D} context @param {SVGGraphicsElement} element @param {SVGSVGElement} finder */
function draw(context, element, finder) {
  const style = getComputedStyle(element);
  const number = (/** @type {string} */ name) => Number(element.getAttribute(name) ?? 0);
  context.save();
  const matrix = element.transform.baseVal.consolidate()?.matrix;
  if (matrix) context.transform(matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f);
  context.globalAlpha = Number(style.opacity);
  if (element instanceof SVGTextElement) {
    context.fillStyle = style.fill;
    context.font = `${style.fontSize} ${style.fontFamily}`;
    context.fillText(element.textContent ?? '', number('x'), number('y'));
  } else {
    const path = new Path2D(element.getAttribute('d') ?? undefined);
    if (element instanceof SVGCircleElement) path.arc(number('cx'), number('cy'), number('r'), 0, 2 * Math.PI);
    if (element instanceof SVGRectElement)
      path.roundRect(number('x'), number('y'), number('width'), number('height'), number('rx'));
    if (style.fill.startsWith('url')) hatch(context, path, finder);
    else if (style.fill !== 'none') {
      context.fillStyle = style.fill;
      context.fill(path);
    }
    if (style.stroke !== 'none') {
      context.strokeStyle = style.stroke;
      context.lineWidth = Number.parseFloat(style.strokeWidth);
      context.setLineDash(
        style.strokeDasharray === 'none' ? [] : style.strokeDasharray.split(/[, ]+/).map(Number.parseFloat),
      );
      context.stroke(path);
    }
  }
  context.restore();
}

/**
 * Hatches a shape like the drawing. @param {CanvasRenderingContext2D} context @param {Path2D} path @param
 * {SVGSVGElement} finder
 */
function hatch(context, path, finder) {
  const pattern = finder.querySelector('pattern');
  const line = pattern?.querySelector('path');
  if (!pattern || !line) return;
  const step = pattern.width.baseVal.value;
  const reach = 2 * Math.max(finder.viewBox.baseVal.width, finder.viewBox.baseVal.height);
  context.save();
  context.clip(path);
  context.rotate(Math.PI / 4);
  context.strokeStyle = getComputedStyle(line).stroke;
  // The tile cuts off the left half of its line.
  const width = Number.parseFloat(getComputedStyle(line).strokeWidth) / 2;
  context.lineWidth = width;
  context.beginPath();
  for (let x = -Math.ceil(reach / step) * step; x <= reach; x += step) {
    context.moveTo(x + width / 2, -reach);
    context.lineTo(x + width / 2, reach);
  }
  context.stroke();
  context.restore();
}
