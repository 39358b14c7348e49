/** The content of each page. Statements about the service come from src/core/contract and the live configuration. */

import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { type BrokerName, brokerDefinition } from '../../core/contract/brokers.ts';
import type { CatalogDefinition, Catalogs } from '../../core/contract/catalogs.ts';
import { CUT_ENFORCERS, CUT_STATUSES } from '../../core/contract/enums.ts';
import { fieldFilterNames, filterableFields } from '../../core/contract/filters.ts';
import { orderInForce, orderRemark, pixelArcmin, sourceIdMeaning } from '../../core/documents/catalogs.ts';
import { OBJECT_ID } from '../../core/documents/kinds.ts';
import type { Documented } from '../../core/documents/operations.ts';
import { caveats, decimal, howCompared, ownRadii, radiusText } from '../../core/documents/prose.ts';
import type { NightActivity } from '../../core/service/night_activity.ts';
import { currentProvenance } from '../../core/store/provenance.ts';
import { addressed } from '../documents/addressed.ts';
import { apiDocs } from '../documents/api_docs.ts';
import { anchor, type Block, toHtml } from '../documents/blocks.ts';
import { conventions, limitSentences, SUMMARY } from '../documents/prose.ts';
import { conePath } from '../vo/vosi.ts';
import { sexagesimal } from './browser/format.js';
import { clients } from './clients/files.ts';
import type { Examples } from './examples.ts';
import { type FeedLink, followLink } from './feed_link.ts';
import { Html, html, loading, mapFrame, needsScripts } from './html.ts';
import { type Page, searchForm } from './layout.ts';
import { nightSection } from './night_section.ts';
import { pageSettings } from './settings.ts';
import { CUT_WORDS, sentence } from './words.ts';

const blocks = (...list: readonly Block[]) => new Html(toHtml(list));
const listOf = (items: readonly string[]) => blocks({ kind: 'list', items });

/** Suggested searches, as people type them. */
function triesOf({ diaObjectId, name, position }: Examples): string[] {
  const tries = [diaObjectId, name];
  if (position) {
    const { ra, dec } = position;
    tries.push(`${ra.toFixed(5)} ${signed(dec.toFixed(5))}`, `${sexagesimal(ra, dec)} 5"`);
  }
  return tries.filter(each => each !== undefined);
}

const signed = (number: string) => (number.startsWith('-') ? number : `+${number}`);

/** @param isEmpty whether the database has never contained an object */
export function frontPage(config: Config, examples: Examples, catalogs: Catalogs, isEmpty: boolean): Page {
  const radius = decimal(config.CROSSMATCH_RADIUS_ARCSEC);
  const tries = triesOf(examples);
  return {
    title: '',
    path: '/',
    description: SUMMARY,
    hasSearch: true,
    scripts: ['h3-js.umd.js', 'map_page.js'],
    main: html`<section class="hero">
<h1>What lies at this position?</h1>
<p class="lead">When the Rubin Observatory sees something change in the sky, nearsky tells you which star, galaxy or quasar of ${releasesOf(catalogs)} lies within ${radius}″ of it, and which of these catalogs were searched.</p>
<div class="doors">
<section aria-labelledby="look-up"><h2 id="look-up">Look up</h2>
${searchForm(config.API_MAX_CONE_RADIUS_ARCSEC, tries[0] && `e.g. ${tries[0]}`)}
${tries.length > 0 && html`<p class="examples">Try ${tries.map(text => html`<a href="/search?q=${encodeURIComponent(text)}">${text}</a> `)}</p>`}
</section>
<section aria-labelledby="match-list"><h2 id="match-list"><a href="/crossmatch">Match my list</a></h2>
<p>Paste ids, names or positions, or choose a table: each row comes back with what lies there. <a href="/sample">How many are stars</a>, and how many by chance?</p></section>
<section aria-labelledby="follow"><h2 id="follow"><a href="/recent">Follow</a></h2>
<p>What was matched in the last hours, or what happens in <a href="/area">an area of the sky</a>. <a href="/docs/stream">With a program</a>.</p></section>
</div>
</section>
${isEmpty && firstSteps}
<section class="sky" aria-labelledby="map-title">
<div class="bar"><h2 id="map-title">The sky</h2>
<p class="hint" id="counting" role="status"></p>
<fieldset class="choice" id="layers"><legend class="unseen">Colour by</legend>
<label><input type="radio" name="layer" value="density" checked><span>Objects</span></label>
<label><input type="radio" name="layer" value="share"><span>With a source</span></label>
<label><input type="radio" name="layer" value="coverage"><span>Coverage</span></label>
</fieldset></div>
${mapFrame('Drag to move, turn the wheel or pinch to zoom, click a cell to list its objects. With the keyboard: arrows move, + and − zoom, Enter opens the cell in the middle, 0 shows the whole sky.', html`<div class="legend" id="legend"></div>`)}
${needsScripts}
<section class="panel" id="cell" aria-live="polite" hidden></section>
<details class="as-table"><summary>The map as a table</summary><div id="map-table"></div></details>
</section>`,
  };
}

/** The next steps for the operator of a service without data. */
const firstSteps = html`<section class="card" aria-labelledby="first-steps">
<h2 id="first-steps">No objects yet</h2>
<p>This service holds no objects. Whoever runs it stores some, and registers at least one catalog, on the machine of the service:</p>
${blocks({
  kind: 'code',
  text: `nearsky ingest --data DIR --broker lasair messages.ndjson.gz
nearsky catalog add --data DIR gaia_dr3 https://data.lsdb.io/hats/gaia_dr3/gaia`,
})}
<p><code>DIR</code> is the data directory that the service was started with. The service crossmatches new objects by itself, and shows them here within seconds. <code>nearsky consume</code> stores the brokers' live alerts. To try the pages first, run <code>nearsky demo</code>: it serves a sample.</p>
</section>`;

export function searchPage(config: Config): Page {
  return {
    title: 'Search',
    description: 'Rubin objects by id, TNS name or position.',
    hasSearch: true,
    scripts: ['search_page.js'],
    main: html`<h1>Search</h1>
${searchForm(config.API_MAX_CONE_RADIUS_ARCSEC)}
${needsScripts}
<section id="results" aria-live="polite" aria-busy="true">${loading}</section>`,
  };
}

/** @param id in its shortest form */
export function objectPage(id: bigint, config: Config, catalogs: Catalogs): Page {
  const radius = decimal(config.CROSSMATCH_RADIUS_ARCSEC);
  return {
    title: `${id}`,
    description: `Rubin alert object ${id}: its catalog sources within ${radius}″ (${releasesOf(catalogs)}), and what was searched.`,
    scripts: ['object_page.js'],
    imagesFrom: URL.parse(pageSettings.of(config).SURVEY_IMAGE_URL_TEMPLATE ?? '')?.origin,
    main: html`<h1 id="title" class="id-title">${`${id}`}</h1>
${needsScripts}
<div id="object" aria-live="polite" aria-busy="true">${loading}</div>`,
  };
}

const OBJECT_PATH = /^\/objects\/[^/]+$/;

/**
 * The page for an unknown address.
 * @param path as requested
 */
export function missingPage(config: Config, path: string): Page {
  const why = OBJECT_PATH.test(path) && html`An object's address ends in its diaObjectId, ${OBJECT_ID.must}. `;
  return {
    title: 'Not found',
    description: 'There is nothing at this address.',
    hasSearch: true,
    status: 404,
    main: html`<h1>There is nothing at this address</h1>
<p class="lead">This service has no page <code>${path.slice(0, 200)}</code>. ${why}Search for an object, or begin at one of the pages above.</p>
${searchForm(config.API_MAX_CONE_RADIUS_ARCSEC)}
<p><a href="/">The map</a> · <a href="/recent">Recent crossmatches</a> · <a href="/consuming">Using it</a> · <a href="/api-docs">The API</a></p>`,
  };
}

export function recentPage(config: Config, catalogs: Catalogs, feed: FeedLink): Page {
  const hours = [1, 12, 24, 72, 168].filter(each => each <= config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS);
  return {
    title: 'Recent crossmatches',
    path: '/recent',
    description: 'Objects with coincident catalog sources, newest first.',
    feed,
    scripts: ['recent_page.js'],
    main: html`<h1>Recent crossmatches</h1>
<p class="lead">Objects that have a catalog source within ${decimal(config.CROSSMATCH_RADIUS_ARCSEC)}″. Objects without one are not listed.</p>
<form id="window" class="choices">
<fieldset class="choice"><legend>Alerts of the last</legend>${hours.map(
      each =>
        html`<label><input type="radio" name="hours" value="${each}"${each === 24 && html` checked`}><span>${each < 48 ? `${each} h` : `${each / 24} d`}</span></label>`,
    )}</fieldset>
<fieldset class="choice"><legend>By</legend>
<label><input type="radio" name="time_field" value="ingest_time" checked><span>arrival here</span></label>
<label><input type="radio" name="time_field" value="event_time"><span>time of the alert</span></label></fieldset>
<label class="pick">Source in <select name="catalog"><option value="">any catalog</option>${catalogs.all.map(({ name, release }) => html`<option value="${name}">${release}</option>`)}</select></label>
<label class="pick">Sort by <select name="sort"><option value="time">time, newest first</option><option value="separation">separation</option><option value="magnitude">magnitude, brightest first</option></select></label>
<label class="pick"><input type="checkbox" name="named" value="1"> with a TNS name</label>
</form>
${needsScripts}
${followLink(feed)}
<p id="fresh" role="status"></p>
<section id="recent" tabindex="-1" aria-label="Crossmatches" aria-live="polite" aria-busy="true">${loading}</section>`,
  };
}

/**
 * The catalogs that objects are compared with. If none is registered yet, or the registrations are unknown: all
 * catalogs of the project.
 */
function releasesOf({ all, footprintOrders }: Catalogs): string {
  const registered = all.filter(({ name }) => footprintOrders?.has(name));
  return (registered.length > 0 ? registered : all).map(shownRelease).join(', ');
}

/** The release, with the radius of a catalog that has its own. */
function shownRelease({ release, radius }: CatalogDefinition): string {
  return radius ? `${release} ${radiusText(radius, '')}` : release;
}

function comparedWith({ all: { length: all }, footprintOrders: registered }: Catalogs): string {
  if (!registered)
    return `Each object is compared with as many of these ${all} catalogs as are registered here; the database could not be read to say which.`;
  if (registered.size === 0) return `None of these ${all} catalogs is registered here yet: objects wait until one is.`;
  if (registered.size === all) return `Each object is compared with ${all} catalogs.`;
  return `Each object is compared with ${registered.size} of these ${all} catalogs: the others are not registered here.`;
}

/** The help pages, in order of the reader's tasks. */
export function helpPage(): Page {
  const list = (links: readonly (readonly [path: string, name: string, about: string])[]) =>
    html`<ul>${links.map(([path, name, about]) => html`<li><a href="${path}">${name}</a>: ${about}</li>`)}</ul>`;
  return {
    title: 'Help',
    path: '/help',
    description: 'What the search box takes, what answers mean, and where to read on.',
    main: html`<h1>Help</h1>
<h2>What the search box takes</h2>
<dl class="properties">
<div><dt>An object’s id</dt><dd><code>313637935709683761</code>: opens the page of the object. Where no object has this id, sources of the catalogs are looked up by it.</dd></div>
<div><dt>A TNS name</dt><dd><code>SN 2026abc</code>: objects around its position in TNS</dd></div>
<div><dt>A position</dt><dd><code>61.6223 -49.2951</code> or <code>04:06:29.35 -49:17:42.5 5"</code>: objects around it, in ICRS. A radius may follow.</dd></div>
<div><dt>A source id</dt><dd><code>Gaia DR3 5283956384</code> or <code>gaia_dr3 5283956384</code>: objects that have this catalog source</dd></div>
<div><dt>A list</dt><dd>ids, names and positions, one a line</dd></div>
</dl>
<h2>Understand an answer</h2>
${list([
  ['/consuming#caveats', 'What an answer does not mean', 'about hosts, missing objects and pages of results'],
  ['/catalogs', 'Catalogs', 'what objects are compared with, and where each catalog covers the sky'],
  ['/brokers', 'Brokers', 'who delivers the alerts, and which alerts are stored'],
  ['/status', 'Status', 'whether the service can answer now, and what it holds'],
  [
    '/validation',
    'Validation',
    'the matches of transients with a known class, and of random positions, in this archive',
  ],
])}
<h2>Use it from a program</h2>
${list([
  ['/consuming', 'Using it', 'tables, clients for Python and JavaScript, the shell, chat assistants'],
  ['/vo', 'Virtual Observatory', 'TOPCAT, Aladin and pyvo'],
  ['/api-docs', 'API', 'the reference, with requests to try'],
])}
<h2>Read more</h2>
${list([['/docs', 'Documents', 'a tutorial, how-tos, frequent questions, running a service of your own; with a search']])}`,
  };
}

export function catalogsPage(config: Config, catalogs: Catalogs): Page {
  return {
    title: 'Catalogs',
    path: '/catalogs',
    description: 'The catalogs that objects are crossmatched with.',
    main: html`<h1>Catalogs</h1>
<p class="lead">${comparedWith(catalogs)} Of each, the nearest source within ${decimal(config.CROSSMATCH_RADIUS_ARCSEC)}″ is kept. ${howCompared(config, catalogs).replaceAll('`', '')}.${ownRadii(catalogs).replaceAll('`', '')}</p>
<p><a href="/?layer=coverage">Where they cover the sky</a> is a layer of the map; <a href="/vo">the VO page</a> has it as MOC.</p>
${catalogs.all.map(catalog => catalogSection(catalog, catalogs))}`,
    scripts: ['catalogs_page.js'],
  };
}

function catalogSection(catalog: CatalogDefinition, catalogs: Catalogs): Html {
  const { name, release, raColumn, decColumn, columns, epoch, radius, reference } = catalog;
  const order = orderInForce(catalog, catalogs);
  const fields = filterableFields(catalog);
  return html`<section class="card" aria-labelledby="${name}">
<h2 id="${name}"><span class="mark ${name}" aria-hidden="true"></span>${release}</h2>
<dl class="properties" data-catalog="${name}">
${reference && html`<div><dt>Reference</dt><dd><a href="${reference.paperUrl}" rel="noopener noreferrer">${reference.paper}</a>; <a href="${reference.home}" rel="noopener noreferrer">its home page</a></dd></div>`}
<div><dt>Here</dt><dd class="held">–</dd></div>
<div><dt>Name in the API</dt><dd><code>${name}</code></dd></div>
<div><dt>Source id</dt><dd>${sourceIdMeaning(catalog)}</dd></div>
<div><dt>Position</dt><dd><code>${raColumn}</code>, <code>${decColumn}</code>${epoch && html`, at the epoch in <code>${epoch.column}</code>`}</dd></div>
${radius && html`<div><dt>Radius</dt><dd>${radiusText(radius, '')}</dd></div>`}
<div><dt>Coverage map</dt><dd>HEALPix order ${order}: pixels of ${decimal(pixelArcmin(order))}′. “Searched” means that the position lay inside at this resolution. ${orderRemark(catalog, catalogs)}</dd></div>
</dl>
${
  fields.length > 0 &&
  html`<details class="filters"><summary>${fields.length} filters</summary>${blocks({
    kind: 'table',
    header: ['Value', 'Unit', 'Parameters'],
    rows: fields.map(field => [
      `\`${field.name}\`: ${field.description}`,
      field.unit,
      fieldFilterNames(name, field)
        .map(parameter => `\`${parameter}\``)
        .join(' '),
    ]),
  })}</details>`
}
<details><summary>${columns.length} columns are stored with each source</summary><p class="columns">${columns.map(column => html`<code>${column.name.toLowerCase()}</code> `)}</p></details>
</section>`;
}

export function brokersPage(config: Config): Page {
  const { reliability_cuts: cuts } = currentProvenance(config);
  const rows = cuts.map(
    ({
      broker,
      min_reliability,
      enforced_by,
      status,
      as_of,
    }) => html`<tr><th scope="row"><a href="${brokerDefinition(broker as BrokerName).home}" rel="noopener noreferrer">${brokerDefinition(broker as BrokerName).title}</a></th>
<td class="number" data-head="Minimum reliability">${min_reliability ?? '–'}</td><td data-head="Enforced by">${enforced_by === 'service' ? 'this service' : 'the broker'}</td>
<td data-head="How it is known">${CUT_WORDS[status]}${as_of !== null && ` as of ${as_of}`}</td><td class="number" data-head="Alerts taken" data-broker="${broker}">–</td><td data-head="Last one" data-last="${broker}">–</td></tr>`,
  );
  const meanings = [...CUT_ENFORCERS, ...CUT_STATUSES].map(({ name, meaning }) => `\`${name}\`: ${meaning}.`);
  return {
    title: 'Brokers',
    path: '/brokers',
    description: 'Who delivers the alerts, and which reliability they have at least.',
    scripts: ['brokers_page.js'],
    main: html`<h1>Brokers</h1>
<p class="lead">The service holds only what brokers delivered, to it or to a service whose export it imported. Alerts of low reliability may be dropped before they are stored: by the broker, or here at ingest.</p>
<div class="scroll" tabindex="0" role="group" aria-label="Reliability cuts"><table>
<thead><tr><th scope="col">Broker</th><th scope="col" class="number">Minimum reliability</th><th scope="col">Enforced by</th><th scope="col">How it is known</th><th scope="col" class="number">Alerts taken</th><th scope="col">Last one</th></tr></thead>
<tbody>${rows}</tbody></table></div>
<p>The <a href="/status">status page</a> shows how fast alerts arrive.</p>
<p>${sentence('a value that a broker enforces is declared by the maintainer, not observed here')} The same is in every answer, under <code>provenance.reliability_cuts</code>.</p>
<details><summary>What these values mean in the API</summary>${listOf(meanings)}</details>
<h2>What an absence does not mean</h2>
${listOf(caveats().slice(0, 3))}`,
  };
}

/** A position, an id and a name for the example requests, taken from the stored data if possible. */
function askedFor({ diaObjectId = '313637935709683761', position, name = 'SN 2026abc' }: Examples) {
  return {
    id: diaObjectId,
    name,
    ra: (position?.ra ?? 61.62228).toFixed(5),
    dec: (position?.dec ?? -49.29513).toFixed(5),
  };
}

export function consumingPage(
  api: Documented,
  config: Config,
  base: string,
  examples: Examples,
  catalogs: Catalogs,
): Page {
  const { id, name, ra, dec } = askedFor(examples);
  const cone = `${base}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=10`;
  const code = (text: string) => blocks({ kind: 'code', text });
  return {
    title: 'Using it',
    path: '/consuming',
    description: 'How to ask the service from a shell, a notebook or an assistant, and what its answers mean.',
    main: html`<h1>Using it</h1>
<p class="lead">Everything on these pages comes from a public API. It needs no key, and a page of any origin may call it. Objects come as JSON, or as a table: CSV, NDJSON, VOTable, Parquet, Arrow.</p>
<p>Without a program: <a href="/query">queries</a> in ADQL, <a href="/crossmatch">matches</a> of your list or table, <a href="/sample">a report</a> on your sample, the objects in <a href="/area">an area</a>.</p>
<h2>As a table</h2>
<p>Add <code>format=csv</code>, <code>votable</code>, <code>parquet</code>, <code>arrow</code> or <code>ndjson</code> to a cone, an object, a lookup or recent crossmatches. pandas, astropy, TOPCAT and DuckDB read the addresses as they are:</p>
${code(`import pandas as pd\n\n# Parquet keeps every digit; pandas makes floats of the ids of CSV where some are missing\naddress = "${cone}"\nobjects = pd.read_parquet(address + "&detail=full&format=parquet")`)}
${code(`from astropy.table import Table\n\naddress = "${cone}&format=votable"\nobjects = Table.read(address, format="votable")`)}
<h2>From Python, for many objects</h2>
<p>This service has its own client, which needs only the standard library. It splits lists of any length, follows the pages and waits where the service asks it to.</p>
${code(`pip install ${base}/clients/${clients().wheel}\n# With what to_pandas and to_astropy need:\npip install 'nearsky[pandas,astropy] @ ${base}/clients/${clients().wheel}'`)}
${code(`from nearsky import Nearsky, to_pandas\n\nservice = Nearsky("${base}")\nfor result in service.lookups([${id}, (${ra}, ${dec}, 5), "${name}"]):\n    print(result["input"], result["status"], len(result["objects"]))\n\nobjects = to_pandas(service.cone(${ra}, ${dec}, 60))`)}
<h2>From JavaScript</h2>
<p>The same client for browsers, Node and Deno is <a href="/clients/nearsky.js">one file</a> with <a href="/clients/nearsky.d.ts">types</a>. Browsers and Deno import it from here:</p>
${code(`import { Nearsky } from "${base}/clients/nearsky.js";\n\nconst service = new Nearsky("${base}");\nfor await (const found of service.cone({ ra: ${ra}, dec: ${dec}, radiusArcsec: 60 })) console.log(found.diaObjectId);`)}
<h2>In the Virtual Observatory</h2>
<p>TOPCAT, Aladin and pyvo search by Simple Cone Search, over the objects and over the sources of each catalog: <a href="/vo">the addresses, and coverage maps</a>.</p>
${code(`import pyvo\n\ncone = pyvo.dal.SCSService("${base}${conePath('objects')}")\ntable = cone.search(pos=(${ra}, ${dec}), radius=0.01).to_table()`)}
<h2>From a shell</h2>
${code(`curl -s '${cone}'`)}
${code(`curl -s -H 'Content-Type: application/json' '${base}/api/lookup' -d '{"detail": "matches", "inputs": [\n  {"kind": "id", "diaObjectId": "${id}"},\n  {"kind": "position", "ra": ${ra}, "dec": ${dec}, "radius_arcsec": 5},\n  {"kind": "tns", "name": "${name}"}]}'`)}
<p>An id is a 64-bit integer: Python keeps it, JavaScript and some data frames do not. <code>diaObjectId_str</code> has the same digits as text.</p>
<h2>From a chat assistant</h2>
${listOf(api.setup(config, base))}
<h2 id="caveats">What an answer does not mean</h2>
${listOf(caveats())}
<h2>Conventions</h2>
${listOf(conventions(config, catalogs))}
<h2>Limits</h2>
${listOf(limitSentences(config))}
<p>All of it: <a href="/api-docs">the API reference</a>, <a href="/openapi.json">OpenAPI</a>, <a href="/llms.txt">llms.txt</a>.</p>`,
  };
}

/** @param activity undefined if the database cannot be read */
export function statusPage(activity: NightActivity | undefined, catalogs: Catalogs): Page {
  return {
    title: 'Status',
    path: '/status',
    description: 'Whether the service can answer now, and what it holds.',
    scripts: ['status_page.js'],
    main: html`<h1>Status</h1>
${needsScripts}
<div id="status" aria-live="polite" aria-busy="true">${loading}</div>
${activity && nightSection(activity, catalogs)}`,
  };
}

interface Section {
  readonly title: string;
  /** The method and path of an operation. */
  address?: string;
  readonly content: Block[];
}

/** The blocks before the first heading of the second level, and one section for each of these headings. */
function sectionsOf(docs: readonly Block[]) {
  const head: Block[] = [];
  const sections: Section[] = [];
  for (const block of docs) {
    const address = block.kind === 'paragraph' && /^`([A-Z]+ \/\S*)`$/.exec(block.text)?.[1];
    if (block.kind === 'heading' && block.level === 2) sections.push({ title: block.text, content: [] });
    else if (address && sections.at(-1)?.content.length === 0) sections.at(-1)!.address = address;
    else (sections.at(-1)?.content ?? head).push(block);
  }
  return { head, sections };
}

/** A placeholder for the examples, which change. */
const EXAMPLES = '<!-- examples -->';

/** Made once for each state of the catalogs. */
export const apiReference = (api: Documented, config: Config) =>
  memoized((catalogs: Catalogs) => addressed(base => referenceOf(apiDocs(api, config, base, catalogs)).text));

/** @param reference the result of `apiReference` for the current catalogs */
export function apiDocsPage(reference: (base: string) => string, base: string, examples: Examples): Page {
  const [before, after] = reference(base).split(EXAMPLES);
  return {
    title: 'API',
    path: '/api-docs',
    description: SUMMARY,
    scripts: ['api_page.js'],
    main: html`${new Html(before!)}${tryIt(examples)}${new Html(after!)}`,
  };
}

function referenceOf(docs: readonly Block[]): Html {
  const { head, sections } = sectionsOf(docs);
  return html`<div class="with-contents"><nav class="contents" aria-label="Sections"><ul><li><a href="#try-it">Try it</a></li>${sections.map(
    ({ title }) => html`<li><a href="#${anchor(title)}">${title}</a></li>`,
  )}</ul></nav>
<article class="reference">${blocks(...head)}
${new Html(EXAMPLES)}
<p><button type="button" id="open-all" hidden>Open all sections</button></p>
${sections.map(
  ({ title, address, content }) =>
    html`<details class="section"><summary><h2 id="${anchor(title)}">${title}</h2>${address && html` <code>${address}</code>`}</summary>${blocks(...content)}</details>`,
)}
</article></div>`;
}

/** Requests that can be edited and sent. Without scripts, the links still lead to the answers. */
function tryIt(examples: Examples): Html {
  const { id, name, ra, dec } = askedFor(examples);
  const requests = [
    `/api/objects/${id}?detail=matches`,
    `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=10`,
    `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=10&detail=full&format=csv`,
    `/api/tns/${encodeURIComponent(name)}`,
    '/api/recent-crossmatches?page_size=5&detail=ids',
    '/api/status',
    '/api/describe',
  ];
  return html`<section id="try" aria-labelledby="try-it"><h2 id="try-it">Try it</h2>
<form id="try-form" class="try" hidden><label for="try-path">GET</label><input id="try-path" type="text" value="${requests[0]!}" autocomplete="off" spellcheck="false" autocapitalize="off"><button type="submit">Send</button></form>
<ul class="tries">${requests.map(path => html`<li><a href="${path}">${path}</a></li>`)}</ul>
<div id="try-answer" aria-live="polite"></div></section>`;
}
