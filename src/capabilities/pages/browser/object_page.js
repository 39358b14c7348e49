/**
 * The page of one object: its position and neighbourhood, its sources with their payload, the searched catalogs, and
 * the search settings.
 */

import { mainMagnitudeText } from '../../objects/photometry.js';
import { bibtexOf, curlOf, pythonOf } from './citing.js';
import { save } from './files.js';
import { finder, finderKey, objectMark, sourceMark } from './finder.js';
import { finderPng } from './finder_png.js';
import {
  arcsec,
  counted,
  degrees,
  fixed,
  galactic,
  mjd,
  payloadText,
  sexagesimal,
  sexagesimalDec,
  sexagesimalRa,
  time,
} from './format.js';
import { nearPath, nearSection } from './near_sources.js';
import {
  ask,
  badge,
  brokerTitles,
  byId,
  catalogOf,
  copyButton,
  foundIn,
  html,
  mark,
  pageData,
  prose,
  releaseOf,
  show,
  showError,
  showLoading,
} from './page.js';
import { highlights, inShort, worthParts } from './payload.js';
import { scatterPlot } from './plot.js';
import { offsetsArcsec } from './projection.js';
import { downloads, nearestFirst, nearness, source, transientText, verdictOfSource } from './result_list.js';
import { root } from './root.js';
import { surveyImage } from './survey_image.js';

const id = decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
const place = byId('object');
void load();

async function load() {
  showLoading(place, 'Loading');
  try {
    const answer = await ask(`${root}/api/objects/${encodeURIComponent(id)}?detail=full`);
    const [object] = answer.results[0].objects;
    const text = object.diaObjectId_str;
    show(byId('title'), html`${text} ${copyButton(text, 'the id')}`);
    show(place, object.status === 'not_in_service' ? absent(object) : sections(object, answer.provenance_sets));
  } catch (error) {
    showError(place, error, load);
  }
}

/**
 * Shows an object that is not stored here, with links to brokers that may know it.
 * @param {any} object
 */
function absent(object) {
  return html`
    <div class="notice">
      <p>${badge(object.status)}</p>
      <p>No broker delivered an alert of this object to this service, or none that is reliable enough to be stored here,
      or it was removed here. The object may exist all the same.</p>
    </div>
    <h2>Where it may be known</h2>
    ${linkList('At the brokers', linksOf(object, false))}`;
}

/** @param {any} object @param {any} provenanceSets */
function sections(object, provenanceSets) {
  const hasSources = object.matches.length > 0;
  // In a narrow window, the last part of the first column moves below the second column.
  return html`
    ${verdict(object)}
    ${neighbourhood(object)}
    <div class="columns-2">
      <div>
        ${hasSources ? sources(object) : alert(object)}
        <div class="last">
          ${elsewhere(object)}
          ${registry(object.tns)}
          ${object.crossmatch && provenance(object.crossmatch, provenanceSets)}
          ${texts(object, provenanceSets)}
        </div>
      </div>
      <div>
        ${outcomes(object.crossmatch, provenanceSets)}
        ${hasSources && alert(object)}
      </div>
    </div>
    <p class="hint">${prose(pageData.caveats[0] ?? '')}</p>`;
}

/** @param {any} object */
function elsewhere(object) {
  const { ra, dec } = object;
  const around = html`
    <p><a href=${coneAddress(ra, dec)}>Everything within ${pageData.maxRadiusArcsec}″</a> ·
    <a href="${root}/?ra=${ra}&dec=${dec}">on the map</a></p>`;
  return html`
    <section class="elsewhere">
      <h2>Elsewhere</h2>
      ${linkList('At the brokers', linksOf(object, false))}
      ${ra !== null && linkList('At this position', linksOf(object, true))}
      ${downloads(`${root}/api/objects/${id}?detail=full`, 'This object')}
      ${ra !== null && around}
    </section>`;
}

/**
 * Snippets to copy: a citation, and this query for curl and Python.
 * @param {any} object
 * @param {any} provenanceSets
 */
function texts(object, provenanceSets) {
  const set = provenanceSets[object.crossmatch?.provenance_set];
  const base = location.origin + root;
  const text = (/** @type {string} */ title, /** @type {string} */ content) => html`
    <h3>${title} ${copyButton(content, title)}</h3>
    <pre tabindex="0" aria-label=${title}><code>${content}</code></pre>`;
  return html`
    <details class="section texts">
      <summary><h2>Cite, or query it yourself</h2></summary>
      ${text('BibTeX', bibtexOf(object, set, pageData, base))}
      ${text('curl', curlOf(object, base))}
      ${text('Python', pythonOf(object, base))}
    </details>`;
}

/** @param {number} ra @param {number} dec */
function coneAddress(ra, dec) {
  return `${root}/search?q=${encodeURIComponent(`${ra} ${dec}`)}&radius=${pageData.maxRadiusArcsec}`;
}

/**
 * The result of the crossmatch in one line.
 * @param {any} object
 */
function verdict(object) {
  const transient = transientText(object.tns);
  const named = html` In TNS: <a href=${object.tns?.url} rel="noopener noreferrer">${transient}</a>.`;
  return html`
    <p class="verdict">${badge(object.status)}
    ${pageData.statuses[object.status]?.meaning}${transient !== undefined && named}</p>
    ${object.matches.length > 0 && together(object)}`;
}

/**
 * Summarises all catalogs: the nearest source of each in a line, and contradictions between them.
 * @param {any} object
 */
function together(object) {
  const ofCatalog = Map.groupBy(nearestFirst(object), (/** @type {any} */ match) => match.catalog_name);
  const lines = [...ofCatalog].map(([name, [match]]) => {
    const text = [...inShort(catalogOf(name), match.catalog_payload), `${arcsec(nearness(match))} away`].join(', ');
    return {
      name,
      release: foundIn(match),
      text: [text, ...worthParts(match)].join('; '),
      verdict: verdictOfSource(match).verdict,
    };
  });
  const sure = lines.filter(({ verdict }) => verdict !== 'unclear');
  const said = sure.map(({ release, verdict }) => `${release} says ${verdict}`).join(', ');
  const disagree = new Set(sure.map(({ verdict }) => verdict)).size > 1;
  return html`
    <ul class="keys together">${lines.map(({ name, release, text }) => html`<li>${mark(name)}${release}: ${text}</li>`)}</ul>
    ${disagree && html`<p><strong>The catalogs disagree:</strong> ${said}.</p>`}`;
}

/** @param {string} name @param {import('./page.js').Child} value */
function fact(name, value) {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** @param {any} object */
function alert({ ra, dec, reliability, ingest_time, event_time, brokers }) {
  const where =
    ra === null || dec === null
      ? fact('Position', 'invalid: it cannot be found by position')
      : html`
        ${fact('RA, Dec', [
          figure(`${sexagesimalRa(ra)} ${sexagesimalDec(dec)}`),
          copyButton(sexagesimal(ra, dec), 'the sexagesimal position'),
        ])}
        ${fact('Degrees', [figure(degrees(ra, dec)), copyButton(`${ra} ${dec}`, 'the position in degrees')])}
        ${fact('Galactic', figure(galacticText(ra, dec)))}`;
  const at = event_time && html`${time(event_time)} <span class="unit">MJD ${mjd(event_time)}</span>`;
  return html`
    <section>
      <h2>The alert</h2>
      <dl class="properties">
        ${where}
        ${fact('Time of the alert', at || '–')}
        ${fact('Arrived here', time(ingest_time))}
        ${fact('Reliability', reliability === null ? 'not given' : `${Number(reliability.toFixed(4))}`)}
        ${fact('Delivered by', brokerTitles(brokers))}
      </dl>
    </section>`;
}

/** @param {string} text */
function figure(text) {
  return html`<span class="figure">${text}</span>`;
}

/** @param {number} ra @param {number} dec */
function galacticText(ra, dec) {
  const { l, b } = galactic(ra, dec);
  return `l ${fixed(l, 4)}°, b ${b < 0 ? '' : '+'}${fixed(b, 4)}°`;
}

/** @typedef {{ name: string, url: string, about: string }} Link */

const IMAGES_AT = 'Aladin Lite';

/**
 * The links to pages about an object, or about its position.
 * @param {any} object @param {boolean} isPlace @returns {Link[]}
 */
function linksOf({ diaObjectId_str, ra, dec }, isPlace) {
  /** @type {Record<string, string>} */
  const values = { id: diaObjectId_str, ra: `${ra}`, dec: dec < 0 ? `${dec}` : `%2B${dec}` };
  return pageData.links
    .filter(({ url }) => url.includes('{ra}') === isPlace)
    .map(link => ({ ...link, url: link.url.replace(/\{(id|ra|dec)\}/g, (_, name) => values[name] ?? '') }));
}

/** @param {string} title @param {Link[]} links */
function linkList(title, links) {
  const link = (/** @type {Link} */ { name, url, about }) =>
    html`<li><a href=${url} rel="noopener noreferrer">${about} at ${name}</a></li>`;
  return html`<h3>${title}</h3><ul class="links">${links.map(link)}</ul>`;
}

/** The number of sources that are initially open on a narrow window. */
const NEAREST = 1;
const WIDTHS = [2, 15, 60];
/** The maximum number of sources that are named below the plot of the PNG. */
const MAX_LINES = 12;
/** The statuses of objects for which no catalog was searched, in the words of the finder's key. */
const UNSEARCHED = new Map([
  ['crossmatch_pending', 'not yet searched'],
  ['not_searched', 'no catalog searched'],
]);

/** @param {any} object */
function neighbourhood(object) {
  if (object.ra === null)
    return html`
      <section class="neighbourhood">
        <h2>The neighbourhood</h2>
        <p class="hint">There is no valid position to draw.</p>
      </section>`;
  const sources = object.matches.map(sourceMark);
  const unsearched = UNSEARCHED.get(object.status);
  const survey = pageData.imageUrl === null ? undefined : surveyImage(object, pageData.imageUrl, draw);
  /** @type {import('./finder.js').Mark[]} */
  let others = [];
  /** The sources of the catalogs around, once they were searched. @type {any[]} */
  let known = [];
  /** @type {import('./finder.js').Mark[]} */
  let further = [];
  /** @type {import('./page.js').Child} */
  let nearest;
  /** The list beside the plot. @type {import('./page.js').Child} */
  let list = html`<p class="loading">Searching the catalogs</p>`;
  /** @type {import('./page.js').Child} */
  let colours;
  let [halfWidth = 2] = WIDTHS;
  /** The results about the neighbourhood, as they arrive. @type {string[]} */
  const notes = [];
  const section = document.createElement('section');
  section.className = 'neighbourhood';
  draw();
  void findOthers();
  // The catalogs are searched only when the plot becomes visible, because that takes a while.
  const seen = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    seen.disconnect();
    void findSources();
  });
  seen.observe(section);
  return section;

  function draw() {
    const radius = pageData.crossmatchRadiusArcsec;
    const catalogs = [...new Set([...sources, ...further].map(({ catalog }) => `${catalog}`))];
    const widthChoice = (/** @type {number} */ width, /** @type {number} */ i) => html`
      <label><input type="radio" name="width" value=${width} ?checked=${i === 0}><span>±${width}″</span></label>`;
    // It also sets the message beside the choice.
    const image = survey?.image(halfWidth);
    show(
      section,
      html`
        <div class="bar">
          <h2>The neighbourhood</h2>
          <fieldset class="choice" @change=${choose}>
            <legend class="unseen">Half width of the plot</legend>${WIDTHS.map(widthChoice)}
          </fieldset>
          ${survey ? survey.choice() : skyImage(object)}
          <p class="downloads"><button type="button" class="link" @click=${savePng}>Download as PNG</button></p>
        </div>
        <div class="beside">
          <div class="plot">
            <div class="finder-frame">
              ${image}
              ${finder(object, [...others, ...further, ...sources], radius, halfWidth, !unsearched)}
            </div>
            ${finderKey(catalogs, others.length > 0, { hatched: unsearched })}
          </div>
          <div>
            <p class="nearest" aria-live="polite">${nearest}</p>
            ${list}
            <p class="hint">The circle is the crossmatch radius, ${radius}″.
            Sources are drawn where their catalogs have them.${notes}</p>
          </div>
        </div>
        ${colours}`,
    );
  }

  function choose(/** @type {any} */ { target }) {
    halfWidth = Number(target.value);
    draw();
  }

  async function savePng() {
    const radius = pageData.crossmatchRadiusArcsec;
    const drawn = section.querySelector('svg');
    if (!drawn) return;
    const caption = `${object.diaObjectId_str}   ${degrees(object.ra, object.dec)}   ±${halfWidth}″`;
    const inView = (known.length > 0 ? known : nearestFirst(object)).filter(each => nearness(each) <= halfWidth);
    const lines = inView.slice(0, MAX_LINES).map(each => {
      const magnitude = mainMagnitudeText(catalogOf(each.catalog_name)?.photometry, each.catalog_payload) ?? '';
      return {
        catalog: each.catalog_name,
        text: `${foundIn(each)}   ${arcsec(nearness(each), radius)}   ${magnitude}`,
      };
    });
    const image = section.querySelector('img');
    save(
      await finderPng(drawn, { caption, lines, keys: section.querySelectorAll('.keys li') }, image),
      `nearsky-${object.diaObjectId_str}.png`,
    );
  }

  /**
   * Finds other sources of the catalogs, which no crossmatch has recorded and which are drawn fainter; also the
   * catalogs that could not be searched.
   */
  async function findSources() {
    const radius = pageData.maxSourcesRadiusArcsec;
    const path = nearPath(object, radius);
    try {
      const near = await ask(path);
      known = near.sources;
      const recorded = new Set(object.matches.map(identityOf));
      further = near.sources
        .filter((/** @type {any} */ source) => !recorded.has(identityOf(source)))
        .map((/** @type {any} */ source) => ({ ...sourceMark(source), isFurther: true }));
      colours = colourMagnitude(object, near.sources, radius);
      list = nearSection(near, radius, path);
      const unsearched = near.catalogs
        .filter((/** @type {any} */ { outcome }) => outcome !== 'searched')
        .map((/** @type {any} */ { catalog_name }) => releaseOf(catalog_name));
      const not = unsearched.length === 0 ? '' : `; not searched here: ${unsearched.join(', ')}`;
      const isSearched = unsearched.length < near.catalogs.length;
      if (isSearched && object.status === 'no_coincident_source') nearest = nearestOf(near.sources, radius, not);
    } catch {
      list = html`<p class="hint">The catalogs could not be searched for further sources.</p>`;
    }
    draw();
  }

  async function findOthers() {
    const { ra, dec, diaObjectId_str: own } = object;
    const radius = pageData.maxRadiusArcsec;
    try {
      const cone = await ask(
        `${root}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${radius}&detail=position&page_size=200`,
      );
      others = cone.results[0].objects
        .filter((/** @type {any} */ other) => other.diaObjectId_str !== own)
        .map(objectMark);
      const more = cone.next_cursor !== null ? ', of which the plot has the first' : '';
      const found = cone.results[0].total - 1;
      notes.push(` Within ${radius}″: ${found === 0 ? 'no other object' : counted(found, 'other object')}${more}.`);
    } catch {
      notes.push(' Other objects around could not be looked up.');
    }
    draw();
  }
}

/** Where the service has no images of its own to show: a link. @param {any} object */
function skyImage(object) {
  const link = linksOf(object, true).find(({ name }) => name === IMAGES_AT);
  return link && html`<a href=${link.url} rel="noopener noreferrer">Sky image at ${IMAGES_AT}</a>`;
}

/**
 * Describes the nearest source, if the object has none within the crossmatch radius.
 * @param {any[]} near @param {number} radius arcsec, of the search @param {string} not what was not searched
 */
function nearestOf(near, radius, not) {
  const [first] = near.toSorted((a, b) => a.separation_arcsec - b.separation_arcsec);
  if (!first) return `No source of these catalogs within ${radius}″${not}.`;
  return html`The nearest: ${source(first)} (${first.catalog_source_id}).`;
}

/** With fewer sources, a diagram of colours and magnitudes shows nothing. */
const LEAST_COLOURS = 3;
const GAIA_BANDS = ['phot_g_mean_mag', 'phot_bp_mean_mag', 'phot_rp_mean_mag'];

/**
 * The colour-magnitude diagram of Gaia's sources around an object that has one, with a ring around its own.
 * @param {any} object @param {any[]} near @param {number} radius arcsec, of the search
 */
function colourMagnitude({ matches }, near, radius) {
  const own = matches.findLast((/** @type {any} */ match) => match.catalog_name === 'gaia_dr3')?.catalog_source_id;
  const coloured = near.filter(
    ({ catalog_name, catalog_payload }) =>
      catalog_name === 'gaia_dr3' && GAIA_BANDS.every(band => Number.isFinite(catalog_payload?.[band])),
  );
  const marked = coloured.findIndex(({ catalog_source_id }) => catalog_source_id === own);
  if (marked < 0 || coloured.length < LEAST_COLOURS) return undefined;
  const valuesOf = (/** @type {(payload: any) => number} */ read) =>
    coloured.map(({ catalog_payload }) => read(catalog_payload));
  const colour = {
    title: 'BP − RP (Vega mag)',
    values: valuesOf(each => each.phot_bp_mean_mag - each.phot_rp_mean_mag),
  };
  const magnitude = { title: 'G (Vega mag)', values: valuesOf(each => each.phot_g_mean_mag), isReversed: true };
  return html`
    <figure class="colours">
      ${scatterPlot(colour, magnitude, marked)}
      <figcaption class="hint">${releaseOf('gaia_dr3')} within ${radius}″, as observed; the ring is the coincident source.</figcaption>
    </figure>`;
}

/** The same for all releases of a catalog. @param {any} source */
const identityOf = ({ catalog_name, catalog_source_id }) => `${catalog_name} ${catalog_source_id}`;

/** @param {any} object */
function sources(object) {
  const all = nearestFirst(object);
  // On a phone, only the nearest source is open at first.
  const open = matchMedia('(max-width: 44rem)').matches ? NEAREST : all.length;
  const [shown, behind] = [all.slice(0, open), all.slice(open)];
  const card = (/** @type {any} */ match) => sourceCard(object, match);
  const own = all.filter(({ catalog_name }) => catalogOf(catalog_name)?.radiusArcsec !== undefined);
  const more = html`
    <details>
      <summary>${counted(behind.length, 'more source')}: ${behind.map(match => html`${source(match)} `)}</summary>
      ${behind.map(card)}
    </details>`;
  return html`
    <section>
      <h2>${counted(all.length, 'catalog source')} within ${pageData.crossmatchRadiusArcsec}″${own.length > 0 && ', or the radius of its catalog'}</h2>
      <p class="hint">A coincident source is not a host.</p>
      <div class="sources-list">${shown.map(card)}${behind.length > 0 && more}</div>
    </section>`;
}

/**
 * A source: the deciding values first, then all columns as the catalog has them.
 * @param {any} object
 * @param {any} match
 */
function sourceCard(object, match) {
  const { catalog_name: name, catalog_source_id, separation_arcsec, ra, dec, catalog_payload: payload } = match;
  const { separation_at_epoch_arcsec: atEpoch } = match;
  const { east, north } = object.ra === null ? { east: Number.NaN, north: Number.NaN } : offsetsArcsec(object, match);
  const columns = Object.entries(payload ?? {});
  const moved =
    atEpoch !== undefined && html`<span class="offset"> ${arcsec(atEpoch)} at the event, by proper motion</span>`;
  const code = html`<code class="figure">${catalog_source_id}</code>`;
  const decides = highlights(catalogOf(name), payload).map(
    ({ label, parts, title }) =>
      html`<div><dt title=${title}>${label}</dt><dd>${parts.map(part => html`<span>${part}</span>`)}</dd></div>`,
  );
  const { verdict, reason } = verdictOfSource(match);
  const says =
    catalogOf(name)?.verdicts &&
    html`
    <div><dt title="What the catalog says of its source: no classification of the transient">Verdict</dt><dd><span>${verdict}</span> <span class="unit">${reason}</span></dd></div>`;
  const table = html`
    <div class="scroll" tabindex="0" role="group" aria-label="Columns of ${foundIn(match)}">
      <table class="payload"><tbody>${columns.map(
        ([key, value]) => html`<tr><th scope="row">${key}</th><td class="number">${payloadText(value)}</td></tr>`,
      )}</tbody></table>
    </div>`;
  return html`
    <article class="card">
      <h3>${mark(name)}${foundIn(match)} <strong class="figure">${arcsec(separation_arcsec)}</strong><span
        class="offset"> ${offsetText(east, north)}</span>${moved}</h3>
      <dl class="decides">${says}${decides}</dl>
      <details>
        <summary>Source id, position${columns.length > 0 && ` and all ${columns.length} columns`}</summary>
        <dl class="properties">
          ${fact('Source id', [code, copyButton(catalog_source_id, 'the source id')])}
          ${fact('Its position', figure(degrees(ra, dec)))}
        </dl>
        ${columns.length > 0 && table}
      </details>
    </article>`;
}

/** @param {number} east @param {number} north arcsec; NaN if the object has no position */
function offsetText(east, north) {
  if (Number.isNaN(east)) return '–';
  const [x, y] = [Math.abs(east).toFixed(3), Math.abs(north).toFixed(3)];
  return `${x}″ ${east < 0 ? 'W' : 'E'}, ${y}″ ${north < 0 ? 'S' : 'N'}`;
}

/**
 * The catalogs, grouped by their outcome.
 * @param {any} crossmatch null while the object is pending
 * @param {any} sets
 */
function outcomes(crossmatch, sets) {
  if (!crossmatch) return html`<section><h2>What was searched</h2><p>Not yet searched.</p></section>`;
  const names = Map.groupBy(Object.keys(crossmatch.catalog_outcomes), name => `${crossmatch.catalog_outcomes[name]}`);
  const searched = sets[crossmatch.provenance_set]?.catalogs ?? [];
  const release = (/** @type {string} */ name) =>
    searched.find((/** @type {any} */ each) => each.name === name)?.release ?? releaseOf(name);
  const row = (/** @type {[outcome: string, catalogs: string[]]} */ [outcome, catalogs]) => {
    const { word, meaning } = pageData.outcomes[outcome] ?? { word: outcome, meaning: '' };
    return html`
      <div>
        <dt><span class="outcome ${outcome}" title=${meaning}>${word}</span></dt>
        <dd>
          <ul class="keys">${catalogs.map(name => html`<li>${mark(name)}${release(name)}</li>`)}</ul>
          ${outcome !== 'searched' && html`<p class="hint">${meaning}</p>`}
        </dd>
      </div>`;
  };
  return html`<section><h2>What was searched</h2><dl class="outcomes">${[...names].map(row)}</dl></section>`;
}

/** @param {any} tns */
function registry(tns) {
  return html`<section><h2>In TNS</h2><p>${registryText(tns)}</p></section>`;
}

/** @param {any} tns */
function registryText(tns) {
  if (!tns?.checked) return 'The Transient Name Server (TNS) was not searched for this object.';
  const snapshot = time(tns.snapshot_epoch);
  if (tns.name === null) return `TNS has nothing here (snapshot of ${snapshot}).`;
  const redshift = tns.redshift === null ? 'no redshift' : `z = ${tns.redshift}`;
  return html`<a href=${tns.url} rel="noopener noreferrer">${`${tns.name_prefix ?? ''} ${tns.name}`.trim()}</a>,
    ${tns.classification ?? 'not classified'}, ${redshift},
    ${arcsec(tns.separation_arcsec)} away (snapshot of ${snapshot}).`;
}

/** @param {any} crossmatch */
function recordedFacts({ crossmatched_at, match_version, brokers_at_crossmatch }) {
  return html`
    ${fact('Crossmatched', time(crossmatched_at))}
    ${fact('Version', match_version)}
    ${fact('Delivered by then', brokerTitles(brokers_at_crossmatch))}`;
}

const GUESS = html`
  <p class="notice">There is no record of this crossmatch: it was made before records were kept, or was imported without
  one. The current settings stand in as a best guess.</p>`;

/** @param {any} crossmatch @param {any} sets */
function provenance(crossmatch, sets) {
  const set = sets[crossmatch.provenance_set ?? crossmatch.best_guess_provenance_set];
  const cuts = (set?.reliability_cuts ?? []).map(
    (/** @type {any} */ cut) => `${cut.broker} ${cut.min_reliability ?? 'not declared'} (${cut.enforced_by})`,
  );
  const isRecorded = crossmatch.recording_release === undefined;
  const radius = set?.crossmatch_radius_arcsec;
  const catalogs = (set?.catalogs ?? []).map(
    (/** @type {any} */ { release, radius_arcsec: arcsec, radius_column: column }) =>
      arcsec === undefined ? release : `${release} (${column === undefined ? '' : `${column}, at most `}${arcsec}″)`,
  );
  return html`
    <details class="section" ?open=${!isRecorded}>
      <summary><h2>Provenance</h2></summary>
      ${!isRecorded && GUESS}
      <dl class="properties">
        ${isRecorded && recordedFacts(crossmatch)}
        ${fact('Radius', radius === undefined ? '–' : `${radius}″`)}
        ${fact('Catalogs', catalogs.join(', ') || '–')}
        ${fact('Minimum reliability', cuts.join('; ') || '–')}
      </dl>
    </details>`;
}
