/** The page for an area of the sky, which visitors draw on the map, type, or choose as a file. */
import { DEFAULT_CREDIBLE_LEVEL, MAX_AREA_BYTES } from '../../core/contract/limits.ts';
import type { Examples } from './examples.ts';
import { type FeedLink, followLink } from './feed_link.ts';
import { html, mapFrame, needsScripts } from './html.ts';
import type { Page } from './layout.ts';

const EXAMPLE_RADIUS_DEG = 1;

export function areaPage({ position }: Examples, feed: FeedLink): Page {
  const example = position && `CIRCLE ${position.ra.toFixed(4)} ${position.dec.toFixed(4)} ${EXAMPLE_RADIUS_DEG}`;
  return {
    title: 'Area',
    path: '/area',
    description: 'The objects in an area of the sky: a circle, a polygon, a MOC, a gravitational-wave sky map.',
    scripts: ['h3-js.umd.js', 'area_page.js'],
    feed,
    main: html`<h1>Objects in an area</h1>
<p class="lead">A circle or a polygon, drawn or typed; a MOC; or the sky map of a gravitational wave, best places first.</p>
${needsScripts}
<form id="area" hidden>
<div class="bar"><fieldset class="choice" id="shape"><legend>Draw</legend>
<label><input type="radio" name="shape" value="circle" checked><span>a circle</span></label>
<label><input type="radio" name="shape" value="polygon"><span>a polygon</span></label></fieldset>
<p class="hint" id="drawing" role="status"></p>
<button type="button" id="clear">Clear</button></div>
${mapFrame('Drag to move, turn the wheel or pinch to zoom. Click the middle of a circle and then its edge, or the corners of a polygon. With the keyboard: arrows move, + and − zoom, Enter is a click in the middle, 0 shows the whole sky.', html`<ul class="keys" id="contours" aria-label="Regions on the map" hidden></ul>`)}
<label for="area-text">Or as text</label>
<textarea id="area-text" class="editor" rows="2" autocomplete="off" autocapitalize="off" spellcheck="false" placeholder="CIRCLE 61.6 -49.3 1, POLYGON 60 -50 63 -50 61 -48, or a MOC: 5/1-3 6/20"></textarea>
${example && html`<p class="examples">Try <a href="/area?area=${encodeURIComponent(example)}">${example}</a></p>`}
<label class="drop" id="drop"><strong id="chosen">Or choose a file, or drop it here</strong><input class="unseen" type="file" id="file"><span class="hint">A MOC (FITS, JSON, text), or a sky map (FITS), multi-order or of one NSIDE; at most ${MAX_AREA_BYTES / 2 ** 20} MiB</span></label>
<p class="actions"><button type="submit" class="primary">Search</button> <label class="pick" id="level" hidden>Credible level <input type="text" inputmode="decimal" size="5" placeholder="${DEFAULT_CREDIBLE_LEVEL}"> of a sky map</label></p>
</form>
${followLink(feed)}
<section id="results" aria-label="Result" aria-live="polite"></section>`,
  };
}
