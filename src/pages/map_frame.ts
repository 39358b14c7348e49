/** The map of the sky with its tools, as two pages have it. */
import { type Html, html } from './html.ts';

/** @param help how the map is used */
export function mapFrame(help: string, legend: Html | false = false): Html {
  return html`<div class="map-frame" id="map-frame">
<canvas id="map" tabindex="0" role="application" aria-label="Map of the whole sky" aria-describedby="map-help"></canvas>
<div class="map-tools"><button type="button" id="zoom-in" aria-label="Zoom in">+</button><button type="button" id="zoom-out" aria-label="Zoom out">−</button><button type="button" id="whole" aria-label="Whole sky">⤢</button></div>
<p class="map-note" id="map-note" role="status"></p>
</div>
<div class="map-below">
${legend}
<ul class="keys lines" aria-label="Lines on the map"><li><span class="line galactic"></span>Galactic plane</li><li><span class="line ecliptic"></span>Ecliptic</li><li><span class="line survey"></span>Rubin’s main survey (approximate)</li></ul>
<p class="hint" id="map-help">${help}</p>
</div>`;
}
