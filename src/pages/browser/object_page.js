/**
 * One object: its position and neighbourhood, its sources with their payload, the searched catalogs, and the settings
 * of the search.
 */
import { bibtexOf, curlOf, pythonOf } from './citing.js';
import { save } from './files.js';
import { finder, finderKey } from './finder.js';
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
import {
  ask,
  badge,
  brokerTitles,
  byId,
  catalogOf,
  copyButton,
  h,
  mark,
  pageData,
  prose,
  releaseOf,
  show,
  showError,
  showLoading,
} from './page.js';
import { highlights } from './payload.js';
import { offsetsArcsec } from './projection.js';
import { downloads, nearestFirst, source, transientText } from './result_list.js';
import { surveyImage } from './survey_image.js';

const id = decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
const place = byId('object');
void load();

async function load() {
  showLoading(place, 'Loading');
  try {
    const answer = await ask(`/api/objects/${encodeURIComponent(id)}?detail=full`);
    const [object] = answer.results[0].objects;
    const text = object.diaObjectId_str;
    show(byId('title'), text, ' ', copyButton(text, 'the id'));
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
  return [
    h(
      'div',
      { class: 'notice' },
      h('p', {}, badge(object.status)),
      h(
        'p',
        {},
        'No broker delivered an alert of this object to this service, or none that is reliable enough to be stored here. ',
        'The object may exist all the same.',
      ),
    ),
    h('h2', {}, 'Where it may be known'),
    linkList('At the brokers', brokerLinks(object)),
  ];
}

/** @param {any} object @param {any} provenanceSets */
function sections(object, provenanceSets) {
  /** @type {import('./page.js').Child[]} */
  const around = [neighbourhood(object), outcomes(object.crossmatch)];
  const hasSources = object.matches.length > 0;
  // In a narrow window the last part of the first column comes after the second column.
  const last = h(
    'div',
    { class: 'last' },
    elsewhere(object),
    registry(object.tns),
    object.crossmatch && provenance(object.crossmatch, provenanceSets),
    texts(object, provenanceSets),
  );
  return [
    verdict(object),
    h(
      'div',
      { class: 'columns-2' },
      h('div', {}, hasSources ? sources(object) : alert(object), last),
      h('div', {}, around, hasSources && alert(object)),
    ),
    h('p', { class: 'hint' }, prose(pageData.caveats[0] ?? '')),
  ];
}

/** @param {any} object */
function elsewhere(object) {
  const { ra, dec } = object;
  return h(
    'section',
    { class: 'elsewhere' },
    h('h2', {}, 'Elsewhere'),
    linkList('At the brokers', brokerLinks(object)),
    ra !== null && linkList('At its place', placeLinks(object)),
    downloads(`/api/objects/${id}?detail=full`, 'This object'),
    ra !== null &&
      h(
        'p',
        {},
        h('a', { href: coneAddress(ra, dec) }, `Everything within ${pageData.maxRadiusArcsec}″`),
        ' · ',
        h('a', { href: `/?ra=${ra}&dec=${dec}` }, 'on the map'),
      ),
  );
}

/**
 * Texts to copy: a citation, and this query for a shell and for Python.
 * @param {any} object
 * @param {any} provenanceSets
 */
function texts(object, provenanceSets) {
  const set = provenanceSets[object.crossmatch?.provenance_set];
  const text = (/** @type {string} */ title, /** @type {string} */ content) => [
    h('h3', {}, title, ' ', copyButton(content, title)),
    h('pre', { tabindex: 0, 'aria-label': title }, h('code', {}, content)),
  ];
  return h(
    'details',
    { class: 'section texts' },
    h('summary', {}, h('h2', {}, 'Cite, or query it yourself')),
    text('BibTeX', bibtexOf(object, set, pageData, location)),
    text('curl', curlOf(object, location)),
    text('Python', pythonOf(object, location)),
  );
}

/** @param {number} ra @param {number} dec */
function coneAddress(ra, dec) {
  return `/search?q=${encodeURIComponent(`${ra} ${dec}`)}&radius=${pageData.maxRadiusArcsec}`;
}

/**
 * The result of the crossmatch in a line.
 * @param {any} object
 */
function verdict(object) {
  const transient = transientText(object.tns);
  return h(
    'p',
    { class: 'verdict' },
    badge(object.status),
    ' ',
    pageData.statuses[object.status]?.meaning ?? '',
    transient !== undefined && [
      ' In the registry: ',
      h('a', { href: object.tns.url, rel: 'noopener noreferrer' }, transient),
      '.',
    ],
  );
}

/** @param {[name: string, value: import('./page.js').Child][]} rows */
function factList(rows) {
  return h(
    'dl',
    { class: 'properties' },
    rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** @param {any} object */
function alert({ ra, dec, reliability, ingest_time, event_time, brokers }) {
  /** @type {[string, import('./page.js').Child][]} */
  const where =
    ra === null || dec === null
      ? [['Position', 'invalid: it cannot be found by position']]
      : [
          [
            'RA, Dec',
            [
              figure(`${sexagesimalRa(ra)} ${sexagesimalDec(dec)}`),
              copyButton(sexagesimal(ra, dec), 'the sexagesimal position'),
            ],
          ],
          ['Degrees', [figure(degrees(ra, dec)), copyButton(`${ra} ${dec}`, 'the position in degrees')]],
          ['Galactic', figure(galacticText(ra, dec))],
        ];
  return h(
    'section',
    {},
    h('h2', {}, 'The alert'),
    factList([
      ...where,
      [
        'Time of the alert',
        event_time ? [time(event_time), ' ', h('span', { class: 'unit' }, `MJD ${mjd(event_time)}`)] : '–',
      ],
      ['Arrived here', time(ingest_time)],
      ['Reliability', reliability === null ? 'not given' : `${Number(reliability.toFixed(4))}`],
      ['Delivered by', brokerTitles(brokers)],
    ]),
  );
}

/** @param {string} text */
function figure(text) {
  return h('span', { class: 'figure' }, text);
}

/** @param {number} ra @param {number} dec */
function galacticText(ra, dec) {
  const { l, b } = galactic(ra, dec);
  return `l ${fixed(l, 4)}°, b ${b < 0 ? '' : '+'}${fixed(b, 4)}°`;
}

/** @typedef {{ name: string, url: string, about: string }} Link */

/** @param {any} object @returns {Link[]} */
function brokerLinks({ diaObjectId_str: text }) {
  return pageData.links
    .filter(({ url }) => !url.includes('{ra}'))
    .map(link => ({ ...link, url: link.url.replaceAll('{id}', text) }));
}

/** @param {any} object @returns {Link[]} */
function placeLinks({ diaObjectId_str: text, ra, dec }) {
  return pageData.links
    .filter(({ url }) => url.includes('{ra}'))
    .map(link => ({
      ...link,
      url: link.url
        .replaceAll('{id}', text)
        .replaceAll('{ra}', `${ra}`)
        .replaceAll('{dec}', dec < 0 ? `${dec}` : `%2B${dec}`),
    }));
}

/** @param {string} title @param {Link[]} links */
function linkList(title, links) {
  return h(
    'p',
    { class: 'links' },
    h('span', { class: 'unit' }, `${title}:`),
    links.map(({ name, url, about }) => [' ', h('a', { href: url, rel: 'noopener noreferrer', title: about }, name)]),
  );
}

/** The number of sources that are open on a narrow window. */
const NEAREST = 1;
const WIDTHS = [2, 15, 60];
/** The statuses of objects whose crossmatch searched no catalog, in the words of the finder's key. */
const UNSEARCHED = new Map([
  ['crossmatch_pending', 'not crossmatched yet'],
  ['not_searched', 'no catalog searched'],
]);

/** @param {any} object */
function neighbourhood(object) {
  const section = h('section', { class: 'neighbourhood' }, h('h2', {}, 'The neighbourhood'));
  if (object.ra === null) {
    section.append(h('p', { class: 'hint' }, 'There is no valid position to draw.'));
    return section;
  }
  const sources = object.matches.map(markOf);
  const unsearched = UNSEARCHED.get(object.status);
  const plot = h('div', { class: 'plot' });
  const survey = pageData.imageUrl === null ? undefined : surveyImage(object, pageData.imageUrl, () => draw());
  /** @type {import('./finder.js').Mark[]} */
  let others = [];
  /** @type {import('./finder.js').Mark[]} */
  let further = [];
  let halfWidth = WIDTHS[0] ?? 2;
  const draw = () =>
    show(
      plot,
      h(
        'div',
        { class: 'finder-frame' },
        survey?.image(halfWidth),
        finder(object, [...others, ...further, ...sources], pageData.crossmatchRadiusArcsec, halfWidth, !unsearched),
      ),
      finderKey([...new Set([...sources, ...further].map(({ catalog }) => catalog))].map(String), others.length > 0, {
        hatched: unsearched,
      }),
    );
  const choice = h(
    'fieldset',
    {
      class: 'choice',
      change: (/** @type {any} */ event) => {
        halfWidth = Number(event.target.value);
        draw();
      },
    },
    h('legend', { class: 'unseen' }, 'Half width of the plot'),
    WIDTHS.map((width, i) =>
      h(
        'label',
        {},
        h('input', { type: 'radio', name: 'width', value: width, checked: i === 0 }),
        h('span', {}, `±${width}″`),
      ),
    ),
  );
  const note = h(
    'p',
    { class: 'hint' },
    `The circle is the crossmatch radius, ${pageData.crossmatchRadiusArcsec}″. Sources are drawn where their catalogs have them.`,
  );
  const nearest = h('p', { class: 'nearest', 'aria-live': 'polite' });
  const png = h('button', { type: 'button', class: 'link', click: () => void savePng() }, 'Download as PNG');
  section.append(choice, plot, h('p', { class: 'downloads' }, png), survey?.choice ?? '', nearest, note);
  draw();
  void findOthers();
  // The catalogs are read only when the plot becomes visible, because that takes a while.
  const seen = new IntersectionObserver(entries => {
    if (!entries.some(entry => entry.isIntersecting)) return;
    seen.disconnect();
    void findSources();
  });
  seen.observe(section);
  return section;

  async function savePng() {
    const drawn = plot.querySelector('svg');
    const caption = `${object.diaObjectId_str}   ${degrees(object.ra, object.dec)}   ±${halfWidth}″`;
    if (drawn)
      save(await finderPng(drawn, caption, plot.querySelector('img')), `nearsky-${object.diaObjectId_str}.png`);
  }

  /**
   * Finds the catalogs' other sources, which no crossmatch records and which are drawn fainter; and the catalogs that
   * could not be searched.
   */
  async function findSources() {
    const radius = pageData.maxSourcesRadiusArcsec;
    try {
      const near = await ask(`/api/sources?ra=${object.ra}&dec=${object.dec}&radius_arcsec=${radius}`);
      const recorded = new Set(sources.map((/** @type {any} */ { name }) => name));
      further = near.sources
        .map((/** @type {any} */ source) => ({ ...markOf(source), isFurther: true }))
        .filter((/** @type {any} */ { name }) => !recorded.has(name));
      if (object.status === 'no_coincident_source') show(nearest, nearestOf(near.sources, radius));
      const more = near.truncated ? ', of which the plot has the nearest' : '';
      const unsearched = near.catalogs
        .filter((/** @type {any} */ { outcome }) => outcome !== 'searched')
        .map((/** @type {any} */ { catalog_name }) => releaseOf(catalog_name));
      const not = unsearched.length === 0 ? '' : `; not searched here: ${unsearched.join(', ')}`;
      const found = ` The catalogs have ${counted(near.count, 'source')} within ${radius}″${more}${not}.`;
      note.append(
        unsearched.length === near.catalogs.length ? ` No catalog could be searched within ${radius}″.` : found,
      );
      draw();
    } catch {
      note.append(' The catalogs could not be searched for further sources.');
    }
  }

  async function findOthers() {
    try {
      const cone = await ask(
        `/api/cone?ra=${object.ra}&dec=${object.dec}&radius_arcsec=${pageData.maxRadiusArcsec}&detail=position&page_size=200`,
      );
      others = cone.results[0].objects
        .filter((/** @type {any} */ other) => other.diaObjectId_str !== object.diaObjectId_str)
        .map((/** @type {any} */ { ra, dec, diaObjectId_str }) => ({
          ra,
          dec,
          name: `object ${diaObjectId_str}`,
          href: `/objects/${diaObjectId_str}`,
        }));
      const more = cone.next_cursor !== null ? ', of which the plot has the first' : '';
      const found = cone.results[0].total - 1;
      note.append(
        ` Within ${pageData.maxRadiusArcsec}″: ${found === 0 ? 'no other object' : counted(found, 'other object')}${more}.`,
      );
      draw();
    } catch {
      note.append(' Other objects around could not be looked up.');
    }
  }
}

/**
 * The nearest source in words, for an object that has none within the radius of the crossmatch.
 * @param {any[]} near @param {number} radius arcsec, of the search
 */
function nearestOf(near, radius) {
  const [first] = near.toSorted((a, b) => a.separation_arcsec - b.separation_arcsec);
  if (!first) return `No source of these catalogs within ${radius}″.`;
  return ['The nearest: ', source(first), ` (${first.catalog_source_id}).`];
}

/** The mark of a catalog's source on the finder. @param {any} source */
function markOf({ ra, dec, catalog_name: catalog, catalog_source_id }) {
  return { ra, dec, catalog, name: `${releaseOf(catalog)} ${catalog_source_id}` };
}

/** @param {any} object */
function sources(object) {
  if (object.matches.length === 0) return false;
  const all = nearestFirst(object);
  // On a phone only the nearest source is open at first.
  const open = matchMedia('(max-width: 44rem)').matches ? NEAREST : all.length;
  const [shown, behind] = [all.slice(0, open), all.slice(open)];
  return h(
    'section',
    {},
    h('h2', {}, counted(object.matches.length, 'catalog source'), ` within ${pageData.crossmatchRadiusArcsec}″`),
    h(
      'div',
      { class: 'sources-list' },
      shown.map(match => sourceCard(object, match)),
      behind.length > 0 &&
        h(
          'details',
          {},
          h(
            'summary',
            {},
            `${counted(behind.length, 'more source')}: `,
            behind.map(match => [source(match), ' ']),
          ),
          behind.map(match => sourceCard(object, match)),
        ),
    ),
  );
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
  return h(
    'article',
    { class: 'card' },
    h(
      'h3',
      {},
      mark(name),
      releaseOf(name),
      ' ',
      h('strong', { class: 'figure' }, arcsec(separation_arcsec)),
      h('span', { class: 'offset' }, ` ${offsetText(east, north)}`),
      atEpoch !== undefined && h('span', { class: 'offset' }, ` ${arcsec(atEpoch)} at the event, by proper motion`),
    ),
    h(
      'dl',
      { class: 'decides' },
      highlights(catalogOf(name), payload).map(({ label, parts, title }) =>
        h(
          'div',
          {},
          h('dt', { title }, label),
          h(
            'dd',
            {},
            parts.map(part => h('span', {}, part)),
          ),
        ),
      ),
    ),
    h(
      'details',
      {},
      h('summary', {}, 'Source id, position', columns.length > 0 && ` and all ${columns.length} columns`),
      factList([
        [
          'Source id',
          [h('code', { class: 'figure' }, catalog_source_id), copyButton(catalog_source_id, 'the source id')],
        ],
        ['Its position', figure(degrees(ra, dec))],
      ]),
      columns.length > 0 &&
        h(
          'div',
          { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': `Columns of ${releaseOf(name)}` },
          h(
            'table',
            { class: 'payload' },
            h(
              'tbody',
              {},
              columns.map(([key, value]) =>
                h('tr', {}, h('th', { scope: 'row' }, key), h('td', { class: 'number' }, payloadText(value))),
              ),
            ),
          ),
        ),
    ),
  );
}

/** @param {number} east @param {number} north arcsec; NaN if the object has no position */
function offsetText(east, north) {
  if (Number.isNaN(east)) return '–';
  const [x, y] = [Math.abs(east).toFixed(3), Math.abs(north).toFixed(3)];
  return `${x}″ ${east < 0 ? 'W' : 'E'}, ${y}″ ${north < 0 ? 'S' : 'N'}`;
}

/**
 * The catalogs, grouped by their outcome.
 * @param {any} crossmatch null while the object waits for it
 */
function outcomes(crossmatch) {
  if (!crossmatch) return h('section', {}, h('h2', {}, 'What was searched'), h('p', {}, 'Nothing yet.'));
  /** @type {Map<string, string[]>} */
  const names = new Map();
  for (const [name, outcome] of Object.entries(crossmatch.catalog_outcomes))
    names.set(`${outcome}`, [...(names.get(`${outcome}`) ?? []), name]);
  const rows = [...names].map(([outcome, catalogs]) => {
    const { word, meaning } = pageData.outcomes[outcome] ?? { word: outcome, meaning: '' };
    return h(
      'div',
      {},
      h('dt', {}, h('span', { class: `outcome ${outcome}`, title: meaning }, word)),
      h(
        'dd',
        {},
        h(
          'ul',
          { class: 'keys' },
          catalogs.map(name => h('li', {}, mark(name), releaseOf(name))),
        ),
        outcome !== 'searched' && h('p', { class: 'hint' }, meaning),
      ),
    );
  });
  return h('section', {}, h('h2', {}, 'What was searched'), h('dl', { class: 'outcomes' }, rows));
}

/** @param {any} tns */
function registry(tns) {
  const says = !tns?.checked
    ? 'The registry of the Transient Name Server was not consulted for this object.'
    : tns.name === null
      ? `No entry within reach in the registry snapshot of ${time(tns.snapshot_epoch)}.`
      : undefined;
  return h(
    'section',
    {},
    h('h2', {}, 'In the registry'),
    says !== undefined
      ? h('p', {}, says)
      : h(
          'p',
          {},
          h('a', { href: tns.url, rel: 'noopener noreferrer' }, `${tns.name_prefix ?? ''} ${tns.name}`.trim()),
          `, ${tns.classification ?? 'not classified'}, ${tns.redshift === null ? 'no redshift' : `z = ${tns.redshift}`}, `,
          `${arcsec(tns.separation_arcsec)} away (snapshot of ${time(tns.snapshot_epoch)}).`,
        ),
  );
}

/** @param {any} crossmatch @param {any} sets */
function provenance(crossmatch, sets) {
  const { match_version, crossmatched_at, brokers_at_crossmatch, recording_release } = crossmatch;
  const set = sets[crossmatch.provenance_set ?? crossmatch.best_guess_provenance_set];
  const cuts = (set?.reliability_cuts ?? []).map(
    (/** @type {any} */ cut) => `${cut.broker} ${cut.min_reliability ?? 'not declared'} (${cut.enforced_by})`,
  );
  const isRecorded = recording_release === undefined;
  return h(
    'details',
    { class: 'section', open: !isRecorded },
    h('summary', {}, h('h2', {}, 'Provenance')),
    !isRecorded &&
      h(
        'p',
        { class: 'notice' },
        'There is no record of this crossmatch: it was made before records were kept, or was imported without one. The current settings stand in as a best guess.',
      ),
    factList([
      ...(isRecorded
        ? /** @type {[string, string][]} */ ([
            ['Crossmatched', time(crossmatched_at)],
            ['Version', `${match_version}`],
            ['Delivered by then', brokerTitles(brokers_at_crossmatch)],
          ])
        : []),
      ['Radius', set?.crossmatch_radius_arcsec === undefined ? '–' : `${set.crossmatch_radius_arcsec}″`],
      ['Catalogs', (set?.catalogs ?? []).map((/** @type {any} */ { release }) => release).join(', ') || '–'],
      ['Minimum reliability', cuts.join('; ') || '–'],
    ]),
  );
}
