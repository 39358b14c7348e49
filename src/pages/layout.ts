/** What all pages have around their content. */
import type { Config } from '../config.ts';
import { assetUrl } from './assets.ts';
import { factsOf } from './facts.ts';
import { type Html, html, jsonData } from './html.ts';

export interface Page {
  /** Before the name of the service in the title of the window; empty for the front page. */
  readonly title: string;
  readonly description: string;
  /** The path of the entry in the navigation that it belongs to. */
  readonly path?: string;
  readonly main: Html;
  /** Scripts of src/pages/browser, beside the one that every page has. */
  readonly scripts?: readonly string[];
  /** The page has a search box of its own. */
  readonly hasSearch?: boolean;
}

const NAVIGATION: readonly (readonly [path: string, name: string])[] = [
  ['/', 'Sky map'],
  ['/recent', 'Recent'],
  ['/catalogs', 'Catalogs'],
  ['/brokers', 'Brokers'],
  ['/consuming', 'Using it'],
  ['/api-docs', 'API'],
  ['/status', 'Status'],
];

/** A whole document. Nothing in it comes from another host, and no script or style stands in it. */
export function layout(page: Page, config: Config): string {
  const { title, description, path, main, scripts = [], hasSearch = false } = page;
  return html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title === '' ? 'nearsky: what lies at the position of a Rubin alert?' : `${title} · nearsky`}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assetUrl('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${assetUrl('style.css')}">
<script src="${assetUrl('theme.js')}"></script>
${scripts.map(name =>
  name === 'h3-js.umd.js'
    ? html`<script src="${assetUrl(name)}" defer></script>\n`
    : html`<script src="${assetUrl(name)}" type="module"></script>\n`,
)}<script src="${assetUrl('site.js')}" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="wordmark" href="/"><img src="${assetUrl('icon.svg')}" alt="" width="28" height="28"> nearsky</a>
<nav aria-label="Pages"><ul>${NAVIGATION.map(
    ([to, name]) => html`<li><a href="${to}"${to === path && html` aria-current="page"`}>${name}</a></li>`,
  )}</ul></nav>
${!hasSearch && searchForm('compact')}
<button class="theme" type="button" id="theme" hidden>Theme</button>
</header>
<main id="content">
${main}
</main>
<footer>
<p>nearsky ${config.APP_VERSION ?? ''}. Positions are ICRS degrees, separations arcsec, times UTC. A coincident source is not a host.</p>
<p><a href="/consuming">What an answer does not mean</a> · <a href="/vo">Virtual Observatory</a> · <a href="/openapi.json">openapi.json</a> · <a href="/llms.txt">llms.txt</a></p>
</footer>
${jsonData('facts', factsOf(config))}
</body>
</html>
`.text;
}

/** The search box, which works without scripts up to the page of the results. */
export function searchForm(kind: 'compact' | 'large'): Html {
  return html`<form class="search ${kind}" action="/search" role="search">
<label class="${kind === 'compact' ? 'unseen' : ''}" for="q-${kind}">An id, a TNS name or a position</label>
<div class="field"><input id="q-${kind}" name="q" type="search" required maxlength="200" autocomplete="off" autocapitalize="off" spellcheck="false"
 placeholder="${kind === 'compact' ? 'id, SN 2026abc, or position' : '10.684 41.269'}">
${
  kind === 'large' &&
  html`<label class="unseen" for="radius">Radius</label>
<select id="radius" name="radius"><option value="1">1″</option><option value="3">3″</option><option value="10" selected>10″</option><option value="60">60″</option></select>`
}<button type="submit">Search</button></div>
</form>`;
}
