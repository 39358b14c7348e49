/** HTML templates that escape every interpolated value unless it is HTML itself. */
import { escapeHtml } from '../documents/blocks.ts';

export class Html {
  readonly text: string;

  /** @param text HTML that needs no escaping */
  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | readonly Html[] | false | null | undefined;

/** A template whose parts are strings (which are escaped), HTML, lists of HTML, or nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + rendered(parts[i - 1]) + string));
}

function rendered(part: Part): string {
  if (part === undefined || part === null || part === false) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escapeHtml(`${part}`);
}

/** Data for the scripts of a page: a script element that browsers do not execute. */
export function jsonData(id: string, value: unknown): Html {
  return new Html(
    `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll('<', '\\u003c')}</script>`,
  );
}

/** A placeholder that a script replaces; it stays hidden if scripts do not run. */
export const loading = html`<p class="loading">Loading</p>`;

/** Shown instead of a part that needs scripts, if they do not run. */
export const needsScripts = html`<noscript><p class="notice">This part of the page needs JavaScript. The same is in the <a href="/api-docs">API</a>.</p></noscript>`;

/**
 * The map of the sky with its tools.
 * @param help instructions for using the map
 */
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
