/** The documents of docs/, as pages with a search. */
import type { Site, SiteAddresses, SitePage } from '../documents/site.ts';
import { makeSite } from '../documents/site.ts';
import { Html, html } from './html.ts';
import type { Page } from './layout.ts';

/** The list of the documents. */
const DOCS_PATH = '/docs';
/** The name of the search index file. */
export const SEARCH_INDEX = 'search.json';

const SERVED: SiteAddresses = {
  page: name => (name === '' ? DOCS_PATH : `${DOCS_PATH}/${name}`),
  file: name => `${DOCS_PATH}/${name}`,
};

let served: Site | undefined;

/** The documentation site, which is built when its first page is requested. */
export function servedSite(): Site {
  served ??= makeSite(SERVED);
  return served;
}

export function docsPage(page: SitePage): Page {
  const { title, description, name } = page;
  return {
    title: name === '' ? title : `${title} · Documents`,
    path: DOCS_PATH,
    description,
    scripts: ['docs_page.js'],
    main: docsMain(page, servedSite(), SERVED),
  };
}

/** The content of a page: the search, the document, and links to the other documents. */
export function docsMain(page: SitePage, { pages }: Site, addresses: SiteAddresses): Html {
  const groups = Map.groupBy(pages.values(), ({ group }) => group);
  groups.delete(undefined);
  return html`<form class="search docs" id="docs-search" role="search" aria-label="Documents" data-index="${addresses.file(SEARCH_INDEX)}" hidden>
<label for="docs-query">Search the documents</label>
<div class="field"><input id="docs-query" type="search" autocomplete="off" spellcheck="false" aria-controls="docs-results"></div>
</form>
<section id="docs-results" aria-label="Found sections" aria-live="polite"></section>
<div class="with-contents documents">
${page.headings.length > 1 && html`<details class="contents-here"><summary>On this page</summary>${sectionsOf(page)}</details>`}
<article class="reference">${new Html(page.html)}</article>
<nav class="contents" aria-label="Documents">${[...groups].map(
    ([group, list]) =>
      html`<h2>${group}</h2><ul>${list.map(
        each =>
          html`<li><a href="${addresses.page(each.name)}"${each === page && html` aria-current="page"`}>${each.title}</a>${each === page && page.headings.length > 1 && sectionsOf(page)}</li>`,
      )}</ul>`,
  )}</nav>
</div>`;
}

function sectionsOf({ headings }: SitePage): Html {
  return html`<ul>${headings.map(({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`)}</ul>`;
}
