/** The pages, each as its content. What they say of the service comes from src/contract and the live configuration. */
import { CATALOGS } from '../catalogs/definitions.ts';
import type { CatalogDefinition } from '../catalogs/types.ts';
import type { Config } from '../config.ts';
import { pixelArcmin, sourceIdMeaning } from '../contract/catalogs.ts';
import { apiDocs } from '../contract/docs/api_docs.ts';
import { anchor, type Block, toHtml } from '../contract/docs/blocks.ts';
import { CUT_ENFORCERS, CUT_STATUSES } from '../contract/enums.ts';
import { FILTERABLE_FIELDS, fieldFilterNames } from '../contract/filters.ts';
import { MCP_PATH } from '../contract/mcp_tools.ts';
import { caveats, connectorSetup, conventions, decimal, limitSentences, SUMMARY } from '../contract/prose.ts';
import { currentProvenance } from '../provenance.ts';
import { Html, html } from './html.ts';
import { type Page, searchForm } from './layout.ts';
import { CUT_WORDS, sentence } from './words.ts';

const blocks = (...list: readonly Block[]) => new Html(toHtml(list));
const listOf = (items: readonly string[]) => blocks({ kind: 'list', items });
const needsScripts = html`<noscript><p class="notice">This part of the page needs JavaScript. The same is in the <a href="/api-docs">API</a>.</p></noscript>`;

const EXAMPLES = ['SN 2026abc', '10.684 41.269', '00h42m44.3s +41d16m09s', '61.6223 -49.2951 5"'];

export function frontPage(config: Config): Page {
  const radius = decimal(config.CROSSMATCH_RADIUS_ARCSEC);
  return {
    title: '',
    path: '/',
    description: SUMMARY,
    hasSearch: true,
    scripts: ['h3-js.umd.js', 'map_page.js'],
    main: html`<section class="hero">
<h1>What lies at this position?</h1>
<p class="lead">Alert objects of the Rubin Observatory, and the catalog sources within ${radius}″ of them: ${CATALOGS.map(({ release }) => release).join(', ')}.</p>
${searchForm('large')}
<p class="examples">Try ${EXAMPLES.map(text => html`<a href="/search?q=${encodeURIComponent(text)}">${text}</a> `)}</p>
</section>
<section class="sky" aria-labelledby="map-title">
<div class="bar"><h2 id="map-title">The sky</h2>
<fieldset class="choice" id="layers"><legend class="unseen">Colour by</legend>
<label><input type="radio" name="layer" value="density" checked><span>Objects</span></label>
<label><input type="radio" name="layer" value="share"><span>With a source</span></label>
<label><input type="radio" name="layer" value="coverage"><span>Coverage</span></label>
</fieldset></div>
<div class="map-frame" id="map-frame">
<canvas id="map" tabindex="0" role="application" aria-label="Map of the whole sky" aria-describedby="map-help"></canvas>
<div class="map-tools"><button type="button" id="zoom-in" aria-label="Zoom in">+</button><button type="button" id="zoom-out" aria-label="Zoom out">−</button><button type="button" id="whole" aria-label="Whole sky">⤢</button></div>
<p class="map-note" id="map-note" role="status"></p>
</div>
<div class="map-below">
<div class="legend" id="legend"></div>
<p class="hint" id="map-help">Drag to move, click a cell to list its objects. With the keyboard: arrows move, + and − zoom, Enter opens the cell in the middle, 0 shows the whole sky.</p>
</div>
${needsScripts}
<section class="panel" id="cell" aria-live="polite" hidden></section>
<details class="as-table"><summary>The map as a table</summary><div id="map-table"></div></details>
</section>`,
  };
}

export function searchPage(): Page {
  return {
    title: 'Search',
    description: 'Objects by id, registry name or position.',
    hasSearch: true,
    scripts: ['search_page.js'],
    main: html`<h1>Search</h1>
${searchForm('large')}
${needsScripts}
<section id="results" aria-live="polite" aria-busy="true"></section>`,
  };
}

export function objectPage(): Page {
  return {
    title: 'Object',
    description: 'One alert object: its neighbourhood, its catalog sources, what was searched.',
    scripts: ['object_page.js'],
    main: html`<h1 id="title">Object</h1>
${needsScripts}
<div id="object" aria-live="polite" aria-busy="true"></div>`,
  };
}

export function recentPage(config: Config): Page {
  const hours = [1, 12, 24, 72, 168].filter(each => each <= config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS);
  return {
    title: 'Recent crossmatches',
    path: '/recent',
    description: 'Objects with coincident catalog sources, newest first.',
    scripts: ['recent_page.js'],
    main: html`<h1>Recent crossmatches</h1>
<p class="lead">Objects that have a catalog source within ${decimal(config.CROSSMATCH_RADIUS_ARCSEC)}″, newest first. Objects without one are not listed.</p>
<form id="window" class="choices">
<fieldset class="choice"><legend>Alerts of the last</legend>${hours.map(
      each =>
        html`<label><input type="radio" name="hours" value="${each}"${each === 24 && html` checked`}><span>${each < 48 ? `${each} h` : `${each / 24} d`}</span></label>`,
    )}</fieldset>
<fieldset class="choice"><legend>By</legend>
<label><input type="radio" name="time_field" value="ingest_time" checked><span>arrival here</span></label>
<label><input type="radio" name="time_field" value="event_time"><span>time of the alert</span></label></fieldset>
</form>
${needsScripts}
<section id="recent" aria-live="polite" aria-busy="true"></section>`,
  };
}

export function catalogsPage(config: Config): Page {
  return {
    title: 'Catalogs',
    path: '/catalogs',
    description: 'The catalogs that objects are crossmatched with.',
    main: html`<h1>Catalogs</h1>
<p class="lead">Each object is compared with ${CATALOGS.length} catalogs. Of each, the nearest source within ${decimal(config.CROSSMATCH_RADIUS_ARCSEC)}″ is kept, at its position as stored: no proper motion is applied and no epoch propagated.</p>
<p><a href="/?layer=coverage">Where they cover the sky</a> is a layer of the map.</p>
${CATALOGS.map(catalogSection)}`,
  };
}

function catalogSection(catalog: CatalogDefinition): Html {
  const { name, release, raColumn, decColumn, footprintOrder, payloadColumns } = catalog;
  const fields = FILTERABLE_FIELDS[name];
  return html`<section class="card" aria-labelledby="${name}">
<h2 id="${name}"><span class="mark ${name}" aria-hidden="true"></span>${release}</h2>
<dl class="facts">
<div><dt>Name in the API</dt><dd><code>${name}</code></dd></div>
<div><dt>Source id</dt><dd>${sourceIdMeaning(catalog)}</dd></div>
<div><dt>Position</dt><dd><code>${raColumn}</code>, <code>${decColumn}</code>${name === 'gaia_dr3' && html`, at the epoch in <code>ref_epoch</code>`}</dd></div>
<div><dt>Coverage map</dt><dd>HEALPix order ${footprintOrder}: pixels of ${decimal(pixelArcmin(footprintOrder))}′. “Searched” means that the position lay inside at this resolution.</dd></div>
</dl>
${
  fields.length > 0
    ? blocks({
        kind: 'table',
        header: ['Can be filtered by', 'Unit', 'Parameters'],
        rows: fields.map(field => [
          `\`${field.name}\`: ${field.description}`,
          field.unit,
          fieldFilterNames(name, field)
            .map(parameter => `\`${parameter}\``)
            .join(' '),
        ]),
      })
    : html`<p>It has no columns to filter by.</p>`
}
<details><summary>${payloadColumns.length} columns are stored with each source</summary><p class="columns">${payloadColumns.map(column => html`<code>${column.toLowerCase()}</code> `)}</p></details>
</section>`;
}

export function brokersPage(config: Config): Page {
  const { reliability_cuts: cuts } = currentProvenance(config);
  const rows = cuts.map(
    ({ broker, min_reliability, enforced_by, status, as_of }) => html`<tr><th scope="row">${broker}</th>
<td class="number">${min_reliability ?? '–'}</td><td>${enforced_by === 'service' ? 'this service' : 'the broker'}</td>
<td>${CUT_WORDS[status]}${as_of !== null && ` as of ${as_of}`}</td></tr>`,
  );
  const meanings = [...CUT_ENFORCERS, ...CUT_STATUSES].map(({ name, meaning }) => `\`${name}\`: ${meaning}.`);
  return {
    title: 'Brokers',
    path: '/brokers',
    description: 'Who delivers the alerts, and which reliability they have at least.',
    main: html`<h1>Brokers</h1>
<p class="lead">The service holds only what its brokers delivered. Alerts of low reliability are dropped before they are stored: by the broker, or here at ingest.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Reliability cuts"><table>
<thead><tr><th scope="col">Broker</th><th scope="col" class="number">Minimum reliability</th><th scope="col">Enforced by</th><th scope="col">How it is known</th></tr></thead>
<tbody>${rows}</tbody></table></div>
<p>${sentence('a value that a broker enforces is declared by the maintainer, not observed here')} The same is in every answer, under <code>provenance.reliability_cuts</code>.</p>
${listOf(meanings)}
<h2>What an absence does not mean</h2>
${listOf(caveats().slice(0, 3))}`,
  };
}

export function consumingPage(config: Config, base: string): Page {
  const url = `${base}/api/cone?ra=61.6223&dec=-49.2951&radius_arcsec=10`;
  return {
    title: 'Using it',
    path: '/consuming',
    description: 'How to ask the service from a shell, a notebook or an assistant, and what its answers mean.',
    main: html`<h1>Using it</h1>
<p class="lead">Everything on these pages comes from a public JSON API. It needs no key, and any origin may call it.</p>
<h2>From a shell</h2>
${blocks(
  { kind: 'code', text: `curl '${url}'` },
  {
    kind: 'code',
    text: `curl -H 'Content-Type: application/json' '${base}/api/lookup' -d '{"detail": "ids", "inputs": [\n  {"kind": "id", "diaObjectId": "313637935709683761"},\n  {"kind": "position", "ra": 61.6223, "dec": -49.2951, "radius_arcsec": 5},\n  {"kind": "tns", "name": "SN 2026abc"}]}'`,
  },
)}
<h2>From Python</h2>
${blocks({
  kind: 'code',
  text: `import json, urllib.request\n\nwith urllib.request.urlopen("${url}") as answer:\n    for thing in json.load(answer)["results"][0]["objects"]:\n        print(thing["diaObjectId"], thing["status"], thing["separation_arcsec"])`,
})}
<p>An id is a 64-bit integer: Python keeps it, JavaScript and some data frames do not. <code>diaObjectId_str</code> has the same digits as text.</p>
<h2>From a chat assistant</h2>
${listOf(connectorSetup(config, `${base}${MCP_PATH}`))}
<h2 id="caveats">What an answer does not mean</h2>
${listOf(caveats())}
<h2>Conventions</h2>
${listOf(conventions(config))}
<h2>Limits</h2>
${listOf(limitSentences(config))}
<p>All of it: <a href="/api-docs">the API reference</a>, <a href="/openapi.json">OpenAPI</a>, <a href="/llms.txt">llms.txt</a>.</p>`,
  };
}

export function statusPage(): Page {
  return {
    title: 'Status',
    path: '/status',
    description: 'Whether the service can answer now, and what it holds.',
    scripts: ['status_page.js'],
    main: html`<h1>Status</h1>
${needsScripts}
<div id="status" aria-live="polite" aria-busy="true"></div>`,
  };
}

export function apiDocsPage(config: Config, base: string): Page {
  const docs = apiDocs(config, base);
  const sections = docs.flatMap(block => (block.kind === 'heading' && block.level === 2 ? [block.text] : []));
  return {
    title: 'API',
    path: '/api-docs',
    description: SUMMARY,
    main: html`<div class="with-contents"><nav class="contents" aria-label="Sections"><ul>${sections.map(
      text => html`<li><a href="#${anchor(text)}">${text}</a></li>`,
    )}</ul></nav>
<article class="reference">${blocks(...docs)}</article></div>`,
  };
}
