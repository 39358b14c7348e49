/** One object: its place and neighbourhood, its sources with their payload, what was searched, and under which settings. */
import { finder, finderKey } from './finder.js';
import { arcsec, counted, degrees, payloadText, sexagesimalDec, sexagesimalRa, time } from './format.js';
import { ask, badge, byId, facts, h, mark, prose, releaseOf, show, showError, showLoading } from './page.js';
import { offsetsArcsec } from './projection.js';

const id = decodeURIComponent(location.pathname.split('/').at(-1) ?? '');
const place = byId('object');
byId('title').textContent = `Object ${id}`;
document.title = `${id} · nearsky`;
void load();

async function load() {
  showLoading(place, 'Loading');
  try {
    const answer = await ask(`/api/objects/${encodeURIComponent(id)}?detail=full`);
    const [object] = answer.results[0].objects;
    byId('title').textContent = object.diaObjectId_str;
    show(place, object.status === 'not_in_service' ? absent(object) : sections(object, answer.provenance_sets));
  } catch (error) {
    showError(place, error, load);
  }
}

/** @param {any} object */
function absent({ status }) {
  return h('div', { class: 'notice' }, h('p', {}, badge(status)), h('p', {}, prose(facts.caveats[1] ?? '')));
}

/** @param {any} object @param {any} provenanceSets */
function sections(object, provenanceSets) {
  return [
    h('p', { class: 'verdict' }, badge(object.status), ' ', facts.statuses[object.status]?.meaning ?? ''),
    h('div', { class: 'columns-2' }, h('div', {}, summary(object), outcomes(object.crossmatch)), neighbourhood(object)),
    sources(object),
    registry(object.tns),
    object.crossmatch && provenance(object.crossmatch, provenanceSets),
    h('p', { class: 'hint' }, prose(facts.caveats[0] ?? '')),
  ];
}

/** @param {[name: string, value: import('./page.js').Child][]} rows */
function factList(rows) {
  return h(
    'dl',
    { class: 'facts' },
    rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** @param {any} object */
function summary(object) {
  const { ra, dec, reliability, ingest_time, event_time, brokers } = object;
  const hasPlace = ra !== null && dec !== null;
  return h(
    'section',
    {},
    h('h2', {}, 'The alert'),
    factList([
      [
        'Position',
        hasPlace
          ? [
              h('span', { class: 'figure' }, `${sexagesimalRa(ra)} ${sexagesimalDec(dec)}`),
              h('span', { class: 'figure small' }, degrees(ra, dec)),
              copyButton(`${ra} ${dec}`),
            ]
          : 'invalid: it cannot be found by position',
      ],
      ['Reliability', reliability === null ? 'not given' : `${reliability}`],
      ['Time of the alert', time(event_time)],
      ['Arrived here', time(ingest_time)],
      ['Delivered by', brokers.join(', ') || '–'],
    ]),
    h('ul', { class: 'links', 'aria-label': 'Elsewhere' }, elsewhere(object, hasPlace)),
  );
}

/** @param {any} object @param {boolean} hasPlace */
function elsewhere({ diaObjectId_str, ra, dec, tns }, hasPlace) {
  const own = tns?.url
    ? [{ name: `TNS ${tns.name_prefix ?? ''} ${tns.name}`, url: tns.url, about: 'its entry in the registry' }]
    : [];
  const known = facts.links
    .filter(({ url }) => hasPlace || !url.includes('{ra}'))
    .map(link => ({
      ...link,
      url: link.url
        .replaceAll('{id}', diaObjectId_str)
        .replaceAll('{ra}', `${ra}`)
        .replaceAll('{dec}', dec < 0 ? `${dec}` : `%2B${dec}`),
    }));
  return [...own, ...known].map(({ name, url, about }) =>
    h('li', {}, h('a', { href: url, rel: 'noopener noreferrer', title: about }, name)),
  );
}

/** @param {string} text */
function copyButton(text) {
  const button = h('button', { type: 'button', class: 'small', click: () => void copy() }, 'Copy');
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  };
  return navigator.clipboard ? button : false;
}

const WIDTHS = [2, 15, 60];

/** @param {any} object */
function neighbourhood(object) {
  const section = h('section', { class: 'neighbourhood' }, h('h2', {}, 'The neighbourhood'));
  if (object.ra === null) {
    section.append(h('p', { class: 'hint' }, 'There is no valid position to draw.'));
    return section;
  }
  const sources = object.matches.map((/** @type {any} */ match) => ({
    ra: match.ra,
    dec: match.dec,
    catalog: match.catalog_name,
    name: `${releaseOf(match.catalog_name)} ${match.catalog_source_id}`,
  }));
  const plot = h('div', { class: 'plot' });
  /** @type {import('./finder.js').Mark[]} */
  let others = [];
  let halfWidth = WIDTHS[0] ?? 2;
  const draw = () =>
    show(
      plot,
      finder(object, [...others, ...sources], facts.crossmatchRadiusArcsec, halfWidth),
      finderKey(
        [...new Set(sources.map((/** @type {any} */ source) => source.catalog))].map(String),
        others.length > 0,
      ),
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
    `The circle is the crossmatch radius, ${facts.crossmatchRadiusArcsec}″. Sources are drawn where their catalogs have them.`,
  );
  section.append(choice, plot, note);
  draw();
  void findOthers();
  return section;

  async function findOthers() {
    try {
      const cone = await ask(
        `/api/cone?ra=${object.ra}&dec=${object.dec}&radius_arcsec=${facts.maxRadiusArcsec}&detail=position&page_size=200`,
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
      note.append(` Within ${facts.maxRadiusArcsec}″: ${counted(cone.results[0].total - 1, 'other object')}${more}.`);
      draw();
    } catch {
      note.append(' Other objects around could not be looked up.');
    }
  }
}

/** @param {any} object */
function sources(object) {
  if (object.matches.length === 0) return false;
  return h(
    'section',
    {},
    h('h2', {}, counted(object.matches.length, 'catalog source'), ` within ${facts.crossmatchRadiusArcsec}″`),
    h(
      'div',
      { class: 'cards' },
      object.matches.map((/** @type {any} */ match) => sourceCard(object, match)),
    ),
  );
}

/** @param {any} object @param {any} match */
function sourceCard(object, match) {
  const { catalog_name: name, catalog_source_id, separation_arcsec, ra, dec, catalog_payload: payload } = match;
  const { east, north } = object.ra === null ? { east: Number.NaN, north: Number.NaN } : offsetsArcsec(object, match);
  const columns = Object.entries(payload ?? {});
  return h(
    'article',
    { class: 'card' },
    h('h3', {}, mark(name), releaseOf(name)),
    factList([
      ['Source id', h('code', { class: 'figure' }, catalog_source_id)],
      ['Separation', h('strong', { class: 'figure' }, arcsec(separation_arcsec))],
      ['Offset', h('span', { class: 'figure' }, offsetText(east, north))],
      ['Its position', h('span', { class: 'figure' }, degrees(ra, dec))],
    ]),
    columns.length > 0 &&
      h(
        'details',
        {},
        h('summary', {}, `${columns.length} columns of the catalog`),
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

/** @param {number} east @param {number} north arcsec; not numbers where the object has no position */
function offsetText(east, north) {
  if (Number.isNaN(east)) return '–';
  const [x, y] = [Math.abs(east).toFixed(3), Math.abs(north).toFixed(3)];
  return `${x}″ ${east < 0 ? 'W' : 'E'}, ${y}″ ${north < 0 ? 'S' : 'N'}`;
}

/** @param {any} crossmatch null while the object waits for it */
function outcomes(crossmatch) {
  if (!crossmatch) return h('section', {}, h('h2', {}, 'What was searched'), h('p', {}, 'Nothing yet.'));
  const rows = Object.entries(crossmatch.catalog_outcomes).map(([name, outcome]) => {
    const { word, meaning } = facts.outcomes[`${outcome}`] ?? { word: `${outcome}`, meaning: '' };
    const why = outcome !== 'searched' && h('p', { class: 'hint' }, meaning);
    return h(
      'div',
      {},
      h('dt', {}, mark(name), releaseOf(name)),
      h('dd', {}, h('span', { class: `outcome ${outcome}`, title: meaning }, word), why),
    );
  });
  return h('section', {}, h('h2', {}, 'What was searched'), h('dl', { class: 'facts' }, rows));
}

/** @param {any} tns */
function registry(tns) {
  const says = !tns?.checked
    ? 'The registry of the Transient Name Server was not consulted for this object.'
    : tns.name === null
      ? `No entry within reach in the registry snapshot of ${time(tns.snapshot_epoch)}.`
      : undefined;
  if (says !== undefined) return h('section', {}, h('h2', {}, 'In the registry'), h('p', {}, says));
  return h(
    'section',
    {},
    h('h2', {}, 'In the registry'),
    factList([
      ['Name', h('a', { href: tns.url, rel: 'noopener noreferrer' }, `${tns.name_prefix ?? ''} ${tns.name}`.trim())],
      ['Classification', tns.classification ?? 'none'],
      ['Redshift', tns.redshift === null ? 'none' : `${tns.redshift}`],
      ['Separation', arcsec(tns.separation_arcsec)],
      ['Snapshot', time(tns.snapshot_epoch)],
    ]),
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
    'section',
    {},
    h('h2', {}, 'Provenance'),
    !isRecorded &&
      h(
        'p',
        { class: 'notice' },
        `Not recorded: it was crossmatched before release ${recording_release}. The current settings stand in as a best guess.`,
      ),
    factList([
      ...(isRecorded
        ? /** @type {[string, string][]} */ ([
            ['Crossmatched', time(crossmatched_at)],
            ['Version', `${match_version}`],
            ['Delivered by then', brokers_at_crossmatch.join(', ') || '–'],
          ])
        : []),
      ['Radius', set?.crossmatch_radius_arcsec === undefined ? '–' : `${set.crossmatch_radius_arcsec}″`],
      ['Catalogs', (set?.catalogs ?? []).map((/** @type {any} */ { release }) => release).join(', ') || '–'],
      ['Minimum reliability', cuts.join('; ') || '–'],
    ]),
    h(
      'p',
      { class: 'hint' },
      h('a', { href: `/api/objects/${encodeURIComponent(id)}?detail=full` }, 'The same as JSON'),
    ),
  );
}
