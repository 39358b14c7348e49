/** The frame of all pages around their content. */
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { rootPath } from '../../core/http/base_url.ts';
import { escapeHtml } from '../documents/blocks.ts';
import { assetUrl } from './assets.ts';
import type { FeedLink } from './feed_link.ts';
import { type Html, html, jsonData } from './html.ts';
import { pageDataOf } from './page_data.ts';
import { pageSettings } from './settings.ts';

export interface Page {
  /** The window title before the name of the service; empty for the front page. */
  readonly title: string;
  readonly description: string;
  /** The path of the page's entry in the navigation. */
  readonly path?: string;
  readonly main: Html;
  /** Scripts of src/capabilities/pages/browser, besides the one that every page has. */
  readonly scripts?: readonly string[];
  /** Whether the page has its own search box. */
  readonly hasSearch?: boolean;
  /** Another origin that its scripts may contact. */
  readonly connectsTo?: string;
  /** Another origin from which its scripts may show images. */
  readonly imagesFrom?: string | undefined;
  readonly feed?: FeedLink;
  /** 200 by default. */
  readonly status?: number;
}

const NAVIGATION: readonly (readonly [path: string, name: string])[] = [
  ['/', 'Sky map'],
  ['/recent', 'Recent'],
  ['/area', 'Area'],
  ['/crossmatch', 'Match'],
  ['/sample', 'Sample'],
  ['/query', 'Query'],
  ['/help', 'Help'],
];
/** Pages that the help page links to. */
const HELP_PAGES = new Set([
  '/catalogs',
  '/brokers',
  '/consuming',
  '/vo',
  '/api-docs',
  '/status',
  '/validation',
  '/docs',
]);

/**
 * A whole document. All its parts come from this host, and it contains no inline script or style.
 * @param address the page's own address, for link previews
 */
export function layout(page: Page, address: string, config: Config, catalogs: Catalogs): string {
  const { title, description, path, main, scripts = [], hasSearch = false, feed } = page;
  const { PAGES_NOTICE } = pageSettings.of(config);
  const fullTitle = title === '' ? 'nearsky: what lies at the position of a Rubin alert?' : `${title} · nearsky`;
  const document = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${fullTitle}</title>
<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="nearsky">
<meta property="og:title" content="${fullTitle}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${address}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${assetUrl(catalogs, 'icon.svg')}" type="image/svg+xml">
${feed?.path !== undefined && html`<link rel="alternate" type="application/atom+xml" title="${fullTitle}" href="${feed.path}">\n`}<link rel="stylesheet" href="${assetUrl(catalogs, 'style.css')}">
<script src="${assetUrl(catalogs, 'theme.js')}"></script>
${scripts.map(name =>
  name === 'h3-js.umd.js'
    ? html`<script src="${assetUrl(catalogs, name)}" defer></script>\n`
    : html`<script src="${assetUrl(catalogs, name)}" type="module"></script>\n`,
)}<script src="${assetUrl(catalogs, 'site.js')}" type="module"></script>
${hasSearch && html`<script src="${assetUrl(catalogs, 'search_box.js')}" type="module"></script>`}
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="wordmark" href="/"><img src="${assetUrl(catalogs, 'icon.svg')}" alt="" width="28" height="28"> nearsky</a>
<nav aria-label="Pages"><ul>${NAVIGATION.map(
    ([to, name]) => html`<li><a href="${to}"${currentAt(to, path)}>${name}</a></li>`,
  )}</ul></nav>
${!hasSearch && compactSearch}
<button class="theme" type="button" id="theme" hidden>Theme</button>
</header>
${PAGES_NOTICE && html`<aside class="about-data" aria-label="About this service">${PAGES_NOTICE}</aside>`}
<main id="content">
${main}
</main>
<footer>
<p>nearsky ${config.APP_VERSION}. Positions are ICRS degrees, separations arcsec, times UTC.</p>
<p><a href="/help">Help</a> · <a href="/consuming#caveats">What an answer does not mean</a> · <a href="/status">Status</a> · <a href="/openapi.json">openapi.json</a> · <a href="/llms.txt">llms.txt</a></p>
</footer>
${jsonData('page-data', pageDataOf(config, catalogs))}
</body>
</html>
`;
  return rooted(document.text, escapeHtml(rootPath(config)));
}

/** Attributes with addresses on this host. Parts of pages write them from the root of the service. */
const LOCAL_ADDRESS = / (?:href|src|action|data-index)="(?=\/)/g;

/** Puts the path of the service before all its addresses. @param root without a slash at the end */
function rooted(document: string, root: string): string {
  return root === '' ? document : document.replace(LOCAL_ADDRESS, attribute => attribute + root);
}

/** The attribute that marks the current page's entry. */
function currentAt(to: string, path: string | undefined): Html | false {
  if (to === path) return html` aria-current="page"`;
  return to === '/help' && path !== undefined && HELP_PAGES.has(path) && html` aria-current="true"`;
}

/** The search box of pages without a large one. Without scripts, it leads to the results page. */
const compactSearch = html`<form class="search compact" action="/search" role="search">
<label class="unseen" for="q-compact">An id, a TNS name or a position</label>
<div class="field"><input id="q-compact" name="q" type="search" required autocomplete="off" autocapitalize="off" spellcheck="false"
 placeholder="id, name, position"><button type="submit">Search</button></div>
</form>`;

const RADII = [1, 3, 5, 10, 30, 60];
const DEFAULT_RADIUS = 10;

/**
 * The large search box, with several lines so that lists can be pasted.
 * @param maxRadiusArcsec larger radii are not offered
 * @param placeholder an example from the stored data
 */
export function searchForm(maxRadiusArcsec: number, placeholder = ''): Html {
  const radii = RADII.filter(each => each <= maxRadiusArcsec);
  const chosen = Math.min(DEFAULT_RADIUS, radii.at(-1) ?? DEFAULT_RADIUS);
  return html`<form class="search large" action="/search" role="search">
<label for="q-large">An id, a TNS name, a position, or a catalog’s source id; or a list, one a line</label>
<div class="field"><textarea id="q-large" name="q" rows="1" required autocomplete="off" autocapitalize="off" spellcheck="false"
 placeholder="${placeholder}"></textarea>
<label class="unseen" for="radius">Radius around positions and names</label>
<select id="radius" name="radius">${radii.map(
    each => html`<option value="${each}"${each === chosen && html` selected`}>${each}″</option>`,
  )}</select><button type="submit">Search</button></div>
</form>`;
}
