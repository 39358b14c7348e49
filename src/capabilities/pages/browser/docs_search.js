/**
 * Ranks the sections of the documents for a query. Synonyms and typing errors are understood, and pages for users come
 * before pages for developers.
 *
 * @typedef {{ address: string, title: string, heading: string, text: string, weight: number }} Section
 * @typedef {{ section: Section, words: string[] }} Found with the words of the section that were searched for
 * @typedef {{ section: Section, times: Map<string, number>, title: Set<string>, heading: Set<string>, length: number }} Entry
 */

/** Each line is one thing in the words of different people. */
const SAME = `
crossmatch; cross match; x match; xmatch; match; cross identification; counterpart
host; host galaxy; galaxy association
cone; cone search; radius; circle; nearby; neighbour; around a position
proper motion; pm; pmra; moving star; epoch; stellar motion
supernova; sn; sne; transient
photo z; photoz; photometric redshift; redshift
broker; lasair; fink; alerce; antares; alert stream
tns; tns name; transient name server; iau name; registry
gravitational wave; gw; ligo; ligo virgo; lvk; kilonova; sky map; skymap; healpix map; credible region
diaobjectid; object id; dia object; object number
star; stellar; star galaxy; contamination; contaminant; verdict; classification
chance; chance coincidence; chance probability; false match; spurious; random match; false positive; p value
footprint; coverage; moc; survey area; outside footprint; sky coverage
adql; sql; tap; query; tap service
csv; file format; download format; votable; fits; parquet; ecsv; arrow
install; setup; set up; getting started; quickstart; quick start; installation
docker; container; image; kubernetes; helm; k8s
kafka; topic; consumer; stream; subscribe; live
error; bound; limit; rate limit; maximum; quota; too many request; 429; 503
backup; restore; snapshot; recovery
upgrade; update; migrate; new version
delete; remove; withdraw; purge
memory; ram; disk; hardware; requirement; sizing
monitoring; metric; prometheus; grafana; health check
python; pip; client; library; package; api client
notebook; jupyter; ipynb
lsdb; hats; hipscat; dask; dataframe
topcat; stilts; aladin; virtual observatory; vo
tom; tom toolkit; target and observation manager; observation manager
magnitude; photometry; mag; colour; color
latex; deluxetable; aastex; paper; publication; citation; cite; bibtex
catalog; catalogue; gaia; survey; reference catalog
changed; change; new since; diff; difference; since yesterday; journal; history
cluster; several nodes; replication; high availability; ha; failover
light curve; lightcurve; forced photometry
uncertainty; error circle; astrometric error; positional error
duplicate; same place; split object
ingest; import; load; feed
plugin; extend; extension; capability; endpoint
`
  .trim()
  .split('\n')
  .map(line => line.split(';').map(phrase => wordsOf(phrase)));

const STOP = new Set(
  'a an and are as at be by can do does for from get how i in is it me my of on or so that the there these this to use using want was what when where which who why will with you your'.split(
    ' ',
  ),
);

/** The weights of synonyms, and of words of which only the beginning is typed; a typed word counts 1. */
const [OTHER, BEGINNING] = [0.5, 0.7];
/** The weights of words in the title of a page, in the title of its section, and in a heading; a word in the text counts 1. */
const [PAGE, TITLE, HEADING] = [8, 2, 4];
/** The maximum number of characters of a query that count: the page would stand still during a much longer search. */
const MAX_QUERY = 500;
/** The maximum number of sections of one page in a result. */
const MAX_OF_PAGE = 3;

/**
 * The words of a text, as they are compared: without endings. A name such as `outside_footprint` is also its parts.
 * @param {string} text @returns {string[]}
 */
function wordsOf(text) {
  const names =
    text
      .toLowerCase()
      .normalize('NFKD')
      .match(/[\p{L}\d]+(?:_[\p{L}\d]+)*/gu) ?? [];
  return names.flatMap(name => (name.includes('_') ? [name, ...name.split('_')] : [name])).map(withoutEnding);
}

/** @param {string} word */
function withoutEnding(word) {
  const singular = word
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|ss|x)es$/, '$1')
    .replace(/([^su])s$/, '$1');
  const stem = singular.length > 5 ? singular.replace(/(?:ing|ed)$/, '') : singular;
  return stem.length > 3 ? stem.replace(/e$/, '') : stem;
}

/** @param {readonly Section[]} sections @returns {(query: string) => Found[]} the best first */
export function searchOf(sections) {
  const entries = sections.map(entryOf);
  const average = entries.reduce((sum, { length }) => sum + length, 0) / entries.length;
  /** @type {Map<string, number>} the sections that have each word */
  const known = new Map();
  for (const { times, title, heading } of entries)
    for (const word of new Set([...times.keys(), ...title, ...heading])) known.set(word, (known.get(word) ?? 0) + 1);
  /** @param {string} word */
  const rarity = word => Math.log(1 + entries.length / (known.get(word) ?? entries.length));

  return query => {
    const wanted = thingsOf(query.slice(0, MAX_QUERY), known);
    if (wanted.length === 0) return [];
    const found = entries.flatMap(entry => {
      /** @type {string[]} */
      const words = [];
      let [score, matched] = [0, 0];
      for (const phrases of wanted) {
        let best = 0;
        for (const { phrase, weight } of phrases) {
          const value = weight * worth(entry, phrase);
          if (value > 0) words.push(...phrase);
          best = Math.max(best, value);
        }
        score += best;
        if (best > 0) matched++;
      }
      if (score === 0) return [];
      return [{ section: entry.section, words, score: score * (matched / wanted.length) ** 2 * entry.section.weight }];
    });
    /** @type {Map<string, number>} */
    const ofPage = new Map();
    return found
      .sort((a, b) => b.score - a.score)
      .filter(({ section: { title } }) => {
        const count = (ofPage.get(title) ?? 0) + 1;
        ofPage.set(title, count);
        return count <= MAX_OF_PAGE;
      });
  };

  /** A word counts for its rarity, its place and how often it stands there. @param {Entry} entry @param {string[]} phrase */
  function worth({ section, times, title, heading, length }, phrase) {
    let sum = 0;
    for (const word of phrase) {
      const often = times.get(word) ?? 0;
      const inText = (2.2 * often) / (often + 1.2 * (0.5 + (0.5 * length) / average));
      const inTitle = title.has(word) ? (section.heading === '' ? PAGE : TITLE) : 0;
      const here = inText + inTitle + (heading.has(word) ? HEADING : 0);
      if (here === 0) return 0;
      sum += rarity(word) * here;
    }
    return sum / phrase.length;
  }
}

/** @param {Section} section @returns {Entry} */
function entryOf(section) {
  const words = wordsOf(section.text);
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const word of words) times.set(word, (times.get(word) ?? 0) + 1);
  return {
    section,
    times,
    title: new Set(wordsOf(section.title)),
    heading: new Set(wordsOf(section.heading)),
    length: words.length,
  };
}

/**
 * The things that a query names, each with all its synonyms. Longer phrases are recognised first.
 * @param {string} query @param {ReadonlyMap<string, number>} known
 * @returns {{ phrase: string[], weight: number }[][]}
 */
function thingsOf(query, known) {
  const typed = wordsOf(query).map(word => corrected(word, known));
  const things = [];
  for (let at = 0; at < typed.length; ) {
    const lengths = SAME.flat().map(phrase => lengthAt(phrase, typed, at));
    const length = Math.max(1, ...lengths);
    const phrase = typed.slice(at, at + length);
    const others = SAME.filter(line => line.some(each => lengthAt(each, typed, at) === length)).flat();
    at += length;
    if (length === 1 && STOP.has(phrase[0] ?? '')) continue;
    const begun = length === 1 && !known.has(phrase[0] ?? '') ? beginning(phrase[0] ?? '', known) : [];
    things.push([
      { phrase, weight: 1 },
      ...others.map(each => ({ phrase: each, weight: phrase.every(word => known.has(word)) ? OTHER : 1 })),
      ...begun.map(word => ({ phrase: [word], weight: BEGINNING })),
    ]);
  }
  return things;
}

/**
 * The number of typed words that are the phrase, which may be typed as one word; 0 if it is not there.
 * @param {string[]} phrase @param {string[]} typed @param {number} at
 */
function lengthAt(phrase, typed, at) {
  if (phrase.every((word, i) => typed[at + i] === word)) return phrase.length;
  return phrase.join('') === typed[at] ? 1 : 0;
}

/** @param {string} word @param {ReadonlyMap<string, number>} known */
const beginning = (word, known) => (word.length < 3 ? [] : [...known.keys()].filter(each => each.startsWith(word)));

/** All words of `SAME`. */
const NAMED = new Set(SAME.flat().flatMap(phrase => [...phrase, phrase.join('')]));

/**
 * Corrects a word that the documents do not have, not even as a beginning: the known word with the fewest errors, and
 * the most frequent of these. Short words are not corrected.
 * @param {string} word @param {ReadonlyMap<string, number>} known
 */
function corrected(word, known) {
  if (word.length < 4 || /\d/.test(word) || NAMED.has(word) || known.has(word) || STOP.has(word)) return word;
  if (beginning(word, known).length > 0) return word;
  const most = word.length < 8 ? 1 : 2;
  let best = { word, errors: most + 1, times: 0 };
  for (const each of new Set([...NAMED, ...known.keys()])) {
    if (Math.abs(each.length - word.length) > most) continue;
    const [errors, times] = [distance(word, each), known.get(each) ?? 0];
    if (errors < best.errors || (errors === best.errors && times > best.times)) best = { word: each, errors, times };
  }
  return best.word;
}

/** The number of letters that are missing, added, wrong or exchanged with their neighbour. @param {string} a @param {string} b */
function distance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (/** @type {number} */ i, /** @type {number} */ j) => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isExchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      rows[i]?.push(
        Math.min(
          at(i - 1, j) + 1,
          at(i, j - 1) + 1,
          at(i - 1, j - 1) + (isSame ? 0 : 1),
          isExchanged ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(a.length, b.length);
}
