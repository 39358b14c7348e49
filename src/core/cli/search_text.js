/**
 * Parses the search box: an id, a name of the TNS, a position in degrees or sexagesimal, with an optional radius, or a
 * source of a catalog.
 *
 * @typedef {{ kind: 'id', id: string }
 *   | { kind: 'tns', name: string, radiusArcsec: number | undefined }
 *   | { kind: 'position', ra: number, dec: number, radiusArcsec: number | undefined }
 *   | { kind: 'source', catalog: string, id: string }
 *   | { kind: 'unclear', reason: string }} SearchText
 * @typedef {{ name: string, release: string, idType?: string | undefined }} KnownCatalog
 */

const MAX_ID = 2n ** 63n - 1n;
const ARCSEC = { '"': 1, "'": 60 };

/** A radius at the end: `5"`, `5''`, `5 arcsec`, `1'`, `1 arcmin`, `r=5`, `radius 5`. Without a unit it is arcsec. */
const UNIT = /** @type {const} */ ([
  [/^(?:"|''|arcsecs?|arcseconds?|as)$/, '"'],
  [/^(?:'|arcmins?|arcminutes?|am)$/, "'"],
]);
const RADIUS =
  /(?:^|[\s,;])(?:r|radius)\s*[=:]?\s*(\d+\.?\d*|\.\d+)\s*("|''|'|[a-z]+)?$|[\s,;](\d+\.?\d*|\.\d+)\s*("|''|'|arcsecs?|arcseconds?|as|arcmins?|arcminutes?|am)$/;

/**
 * @param {string} typed
 * @param {readonly KnownCatalog[]} [catalogs] the catalogs whose sources can be searched
 * @returns {SearchText}
 */
export function parseSearchText(typed, catalogs = []) {
  const source = sourceOf(typed, catalogs);
  if (source) return source;
  const text = plain(typed);
  if (text === '') return unclear('Type an id, a TNS name or a position');
  if (/^\d+$/.test(text)) return idOf(text);
  const { rest, radiusArcsec } = takeRadius(text);
  const [, name] = NAME.exec(rest) ?? [];
  if (name !== undefined) return { kind: 'tns', name: name.replace(/\s/g, ''), radiusArcsec };
  return positionOf(rest, radiusArcsec) ?? unclear(WHAT_IT_CAN_BE);
}

/** Spaces are allowed only before and after the year. Text after a further space makes it a different name. */
const NAME = /^(?:(?:sn|at)\s*)?(\d{4}\s*[a-z][a-z\d]*|\d{8}[a-z]+|(?:frb|tde)\s*\d{4}\s*[a-z\d]+)$/;

/**
 * A source as `Gaia DR3 123` or `gaia_dr3: 123`.
 * @param {string} typed
 * @param {readonly KnownCatalog[]} catalogs
 * @returns {SearchText | undefined} undefined if the text does not begin with a catalog
 */
function sourceOf(typed, catalogs) {
  const text = typed.normalize('NFKC').trim();
  for (const { name, release, idType } of catalogs)
    for (const spelling of [name, release]) {
      const words = spelling.split(/[\s_]+/).map(word => word.replace(/[^\w]/g, '\\$&'));
      const [, id] = new RegExp(`^${words.join('[\\s_]*')}(?:\\s*[:,]\\s*|\\s+)(\\S+)$`, 'i').exec(text) ?? [];
      if (id === undefined) continue;
      if (idType === 'text' || /^-?\d{1,19}$/.test(id)) return { kind: 'source', catalog: name, id };
      return unclear(`A source id of ${release} is an integer of up to 19 digits: it is ${id}`);
    }
  return undefined;
}

/** The maximum number of words in one position or name, including a radius. */
const MAX_WORDS = 12;
/** The minimum number of digits of an id among other words: fewer digits are more likely a part of a position. */
const MIN_ID_DIGITS = 10;

/**
 * Reads pasted text: one search text, or a list of them, with one or several per line and any separators.
 * @param {string} typed
 * @returns {{ typed: string, search: SearchText }[]} one entry for each text in order, even if it cannot be parsed
 * @param {readonly KnownCatalog[]} [catalogs] the catalogs whose sources can be searched, each source alone
 */
export function parseSearchList(typed, catalogs = []) {
  const whole = parseSearchText(typed, catalogs);
  if (whole.kind !== 'unclear' || typed.trim() === '') return [{ typed: typed.trim(), search: whole }];
  return typed
    .split(/[\n\r;|]+/)
    .map(line => line.replace(/^[\s,]+|[\s,]+$/g, '').replace(/^(["'])(.*)\1$/, '$2'))
    .filter(line => line !== '')
    .flatMap(line =>
      sourceOf(line, catalogs)
        ? [{ typed: line, search: unclear('A source of a catalog can only be searched alone, not in a list') }]
        : lineEntries(line),
    );
}

/** @param {string} line */
function lineEntries(line) {
  const whole = parseSearchText(line);
  if (whole.kind !== 'unclear') return [{ typed: line, search: whole }];
  const words = line.split(/[\s,]+/);
  /** @type {{ typed: string, search: SearchText }[]} */
  const entries = [];
  for (let at = 0; at < words.length; ) {
    const found = longestFrom(words, at);
    if (!found) return [{ typed: line, search: whole }];
    entries.push({ typed: found.typed, search: found.search });
    at += found.words;
  }
  // A word that cannot be read may name a frame or a catalog, and numbers can be divided into positions in several ways.
  const positions = entries.filter(({ search }) => search.kind === 'position').length;
  return positions > 1 ? [{ typed: line, search: unclear(ONE_POSITION) }] : entries;
}

/**
 * The longest run of words, from an index on, that can be parsed.
 * @param {string[]} words
 * @param {number} at
 */
function longestFrom(words, at) {
  for (let end = Math.min(words.length, at + MAX_WORDS); end > at; end--) {
    const typed = words.slice(at, end).join(' ');
    if (end - at > 1 && words.slice(at, end).some(word => isLongId(word))) continue;
    const search = parseSearchText(typed);
    if (search.kind === 'unclear' || (search.kind === 'id' && !isLongId(typed))) continue;
    return { typed, search, words: end - at };
  }
  return undefined;
}

/** @param {string} word */
const isLongId = word => /^\d+$/.test(word) && word.length >= MIN_ID_DIGITS;

const ONE_POSITION = 'A line with several positions can be read in several ways: put each on a line of its own';
const WHAT_IT_CAN_BE =
  'This is neither an id (digits), nor a TNS name (SN 2026abc), nor an ICRS position (10.684 41.269, or 00h42m44.3s +41d16m09s), nor a source of a catalog (Gaia DR3 123)';

/** @param {string} reason @returns {SearchText} */
function unclear(reason) {
  return { kind: 'unclear', reason };
}

/**
 * The text in lowercase, with one spelling of signs, primes and spaces, and without surrounding parentheses.
 * @param {string} typed
 */
function plain(typed) {
  return typed
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[−–—]/g, '-')
    .replace(/[′’‘]/g, "'")
    .replace(/[″”“]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^\(\s*(.*?)\s*\)$/, '$1');
}

/** @param {string} digits @returns {SearchText} */
function idOf(digits) {
  const id = digits.length <= 40 ? BigInt(digits) : MAX_ID + 1n;
  return id <= MAX_ID ? { kind: 'id', id: `${id}` } : unclear(`An id is at most ${MAX_ID}`);
}

/** @param {string} text */
function takeRadius(text) {
  const found = RADIUS.exec(text);
  const [all = '', named, namedUnit, bare, bareUnit] = found ?? [];
  const unit = namedUnit ?? bareUnit;
  const known = UNIT.find(([spelling]) => unit !== undefined && spelling.test(unit));
  const rest = text.slice(0, text.length - all.length).replace(/[\s,;]+$/, '');
  // The seconds of a declination look like a radius without `r=` or `radius`. But the text before them is then not a
  // whole position.
  if (!found || (unit !== undefined && !known) || (named === undefined && !standsAlone(rest)))
    return { rest: text, radiusArcsec: undefined };
  return { rest, radiusArcsec: Number(named ?? bare) * (known ? ARCSEC[known[1]] : 1) };
}

/**
 * Whether a text is a whole position or name, so that the following words are a radius.
 * @param {string} text
 */
function standsAlone(text) {
  if (NAME.test(text.trim())) return true;
  const found = positionOf(text.trim(), undefined);
  return found?.kind === 'position';
}

const NUMBER = '(\\d+\\.?\\d*|\\.\\d+)';
const WITH_EXPONENT = '((?:\\d+\\.?\\d*|\\.\\d+)(?:e[+-]?\\d+)?)';
const DEGREES = new RegExp(
  `^(?:ra\\s*[=:]?\\s*)?\\+?${WITH_EXPONENT}\\s*(?:d|deg|°)?\\s*[\\s,;]\\s*(?:dec\\s*[=:]?\\s*)?([+-]?)\\s*${WITH_EXPONENT}\\s*(?:d|deg|°)?$`,
);
const SEXAGESIMAL = new RegExp(
  `^(?:ra\\s*[=:]?\\s*|j)?(\\d{1,3})(?:\\s*([h:d°])\\s*|\\s)(\\d{1,2})(?:\\s*[m':]\\s*|\\s)${NUMBER}\\s*(?:s|"|'')?[\\s,;]*` +
    `(?:dec\\s*[=:]?\\s*)?([+-]?)\\s*(\\d{1,2})(?:\\s*[d°:]\\s*|\\s)(\\d{1,2})(?:\\s*[m':]\\s*|\\s)${NUMBER}\\s*(?:s|"|'')?$`,
);
const PACKED = /^j?\s*(\d{2})(\d{2})(\d{2}(?:\.\d+)?)\s*([+-])(\d{2})(\d{2})(\d{2}(?:\.\d+)?)$/;

/**
 * @param {string} text
 * @param {number | undefined} radiusArcsec
 * @returns {SearchText | undefined} undefined if it does not have the form of a position
 */
function positionOf(text, radiusArcsec) {
  const degrees = DEGREES.exec(text);
  if (degrees) {
    const [, ra, sign, dec] = degrees;
    return checked(Number(ra), signed(sign, Number(dec)), radiusArcsec, { ra, dec: `${sign}${dec}` });
  }
  const packed = PACKED.exec(text);
  const parts = packed ? [packed[1], 'h', ...packed.slice(2)] : SEXAGESIMAL.exec(text)?.slice(1);
  if (!parts) return undefined;
  const [first, unit, raMinutes, raSeconds, sign, decDegrees, decMinutes, decSeconds] = parts;
  for (const minutesOrSeconds of [raMinutes, raSeconds, decMinutes, decSeconds])
    if (!(Number(minutesOrSeconds) < 60))
      return unclear(`Minutes and seconds must be below 60: there is ${minutesOrSeconds}`);
  const isDegrees = unit === 'd' || unit === '°';
  if (!isDegrees && !(Number(first) < 24))
    return unclear(`Hours of right ascension must be below 24: there is ${first}`);
  const ra = sixties(first, raMinutes, raSeconds) * (isDegrees ? 1 : 15);
  return checked(ra, signed(sign, sixties(decDegrees, decMinutes, decSeconds)), radiusArcsec);
}

/** @param {(string | undefined)[]} parts */
function sixties(...parts) {
  const [whole = 0, minutes = 0, seconds = 0] = parts.map(Number);
  return (whole * 3600 + minutes * 60 + seconds) / 3600;
}

/** @param {string | undefined} sign @param {number} value */
const signed = (sign, value) => (sign === '-' ? -value : value);

/**
 * @param {number} ra @param {number} dec @param {number | undefined} radiusArcsec
 * @param {{ ra?: string | undefined, dec?: string | undefined }} [typed] the original text for messages, because a
 * number has fewer digits
 * @returns {SearchText}
 */
function checked(ra, dec, radiusArcsec, typed = {}) {
  if (!(ra >= 0 && ra <= 360)) return unclear(`Right ascension must be 0 to 360 degrees: it is ${typed.ra ?? ra}`);
  if (!(dec >= -90 && dec <= 90)) return unclear(`Declination must be -90 to 90 degrees: it is ${typed.dec ?? dec}`);
  return { kind: 'position', ra, dec, radiusArcsec };
}
