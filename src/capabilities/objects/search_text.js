/**
 * Parses the search box: an id, a name of the TNS, a position in degrees or sexagesimal, with an optional radius, or a
 * source of a catalog. `isDecimal` marks a right ascension without a unit, which is taken for degrees.
 *
 * @typedef {{ kind: 'id', id: string }
 *   | { kind: 'tns', name: string, radiusArcsec: number | undefined }
 *   | { kind: 'position', ra: number, dec: number, radiusArcsec: number | undefined, isDecimal?: boolean }
 *   | { kind: 'source', catalog: string, id: string }
 *   | { kind: 'unclear', reason: string }} SearchText
 * @typedef {{ name: string, release: string, idType?: string | undefined }} KnownCatalog
 */

import { looksLikeHours } from '../../core/contract/hours.js';

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
  if (typed.length > MAX_CHARACTERS) return unclear(TOO_LONG);
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

/** The maximum number of characters of one id, name or position, spaces included. */
const MAX_CHARACTERS = 1000;
/** The maximum number of words in one position or name, including a radius. */
const MAX_WORDS = 12;
/** The minimum number of digits of an id among other words: fewer digits are more likely a part of a position. */
const MIN_ID_DIGITS = 10;

/**
 * One entry of a pasted list. `label` is what stands beside a position in its line.
 * @typedef {{ typed: string, search: SearchText, label?: string }} Entry
 */

/**
 * Reads pasted text: one search text, or a list of them, with one or several per line and any separators. A name beside
 * a position is its label.
 * @param {string} typed
 * @param {readonly KnownCatalog[]} [catalogs] the catalogs whose sources can be searched, each source alone
 * @returns {Entry[]} one entry for each text in order, even if it cannot be parsed
 */
export function parseSearchList(typed, catalogs = []) {
  const whole = parseSearchText(typed, catalogs);
  if (whole.kind !== 'unclear' || typed.trim() === '') return [{ typed: typed.trim(), search: whole }];
  return typed.split(/[\n\r]+/).flatMap(line => {
    if (isNote(line)) return [];
    if (isLong(line)) return lineEntries(line);
    const text = withoutMarkup(line);
    return labelled(text) ?? piecesOf(text).flatMap(piece => pieceEntries(piece, catalogs));
  });
}

/** A comment, or a line that only draws a table. */
const IS_NOTE = /^(?:[#%].*|[-=+|\s:]*)$/;

/** Such a line can only be a list of ids and names: it has no label or markup. @param {string} line */
const isLong = line => line.length > MAX_CHARACTERS;

/** @param {string} line */
const isNote = line => IS_NOTE.test(isLong(line) ? line : withoutMarkup(line));

/** @param {string} line */
const piecesOf = line =>
  line
    .split(/[;|]+/)
    .map(piece => piece.replace(/^[\s,]+|[\s,]+$/g, '').replace(/^(["'])(.*)\1$/, '$2'))
    .filter(piece => piece !== '');

/** @param {string} piece @param {readonly KnownCatalog[]} catalogs @returns {Entry[]} */
function pieceEntries(piece, catalogs) {
  return sourceOf(piece, catalogs)
    ? [{ typed: piece, search: unclear('A source of a catalog can only be searched alone, not in a list') }]
    : lineEntries(piece);
}

/** The marks of hours, minutes and seconds in LaTeX, and what they mean. @type {readonly [RegExp, string][]} */
const LATEX = [
  [/\\\\(?:\[[^\]]*\])?\s*$/, ''],
  [/^\s*\\(?:hline|toprule|midrule|bottomrule|begin|end|caption|label|centering|tablehead|startdata|enddata)\b.*$/, ''],
  [/\\(?:(?:rm|mathrm|textrm|text|hbox)(?![a-z])|[,;! ])\s*/g, ''],
  [/[${}]/g, ''],
  [/~/g, ' '],
  [/(\d)(?:\\fs|\.\\?\^?s|\^s\.)(\d+)/g, '$1.$2s'],
  [/(\d)\\farcs(\d+)/g, '$1.$2"'],
  [/\\f?(h|m|s)(?![a-z])|\^(h|m|s)/g, '$1$2'],
  [/\^?\\(?:circ|degree|degr?)(?![a-z])/g, 'd'],
  [/\\arcsec(?![a-z])|\^?\\prime\s*\\prime|''/g, '"'],
  [/\\arcmin(?![a-z])|\^?\\prime/g, "'"],
];

/** A line without the markup of LaTeX and the quotes of CSV. @param {string} line */
function withoutMarkup(line) {
  const text = /[\\$]|&.*&/.test(line)
    ? LATEX.reduce((made, [mark, meaning]) => made.replace(mark, meaning), line)
    : line;
  return text.replace(/(^|[\t,;|])\s*"([^"]*)"(?=\s*(?:[\t,;|]|$))/g, '$1$2').trim();
}

/** Positions in another frame, or at another equinox. */
const OTHER_FRAME = /\b(?:b?(?:1950|1900|1875)(?:\.0)?|fk4|gal(?:actic)?|glon|glat|ecl(?:iptic)?|supergalactic)\b/i;
/** What positions in a list are in any case; and times, which look like positions. */
const DROPPED = /\(?\b(?:j2000(?:\.0)?|icrs)\b\)?|\b\d{4}-\d\d-\d\d[T\s]+\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?(?=\s|$)/gi;
const COLUMN_NAMES = /\b_?r\.?a\.?(?:j2000|_?deg|mean)?\b.*\b_?dec?l?(?:j2000|_?deg|mean|ination)?\b/i;
/** A number with a decimal comma, alone in its cell. */
const WITH_COMMA = /(?<=^|[\t;])\s*[+-]?\d{1,3},\d+\s*(?=[\t;]|$)/g;
/**
 * A name of any survey, a word of letters and digits; or a number of a well-known catalog or of a list (`M31`,
 * `NGC 253`, `object 5`). Any other word before a number may be a coordinate, an equinox, a unit or a radius.
 */
const DESIGNATION =
  /^(?:(?=.*\d)[a-z][\w+-]{3,}|(?:m|ngc|ic|ugc|pgc|leda|eso|hd|hip|sao|gj|mrk|mkn|arp|abell|kic|tic|toi|epic|object|source|target|candidate|star|galaxy) ?\d+[a-z]?)$/i;
/** A number with the name of a coordinate, an equinox, a unit or a radius: not a name, although it has the form of one. */
const QUANTITY =
  /^(?:ra|raj|de|dej|decl?|declination|alpha|delta|e?lon|e?lat|az|alt|[lb]|sg[lb]|fk|ep|epoch|eq|equinox|hr|hrs|hours?|deg|degrees?|min|sec|arc\w+|sr|rad|radius|within|size)-?\d/i;
const TNS_NAME = /\b(?:(?:SN|AT)\s*)?(?:19|20)\d\d\s?[a-z]{1,4}\b|\b(?:FRB|TDE)\s*\d{4}\s*[a-z\d]+\b/i;
const MAX_LABEL = 64;

/**
 * The entry of a line with one position and its label; undefined if the line has another form.
 * @param {string} line @returns {Entry[] | undefined}
 */
function labelled(line) {
  if (parseSearchText(line).kind !== 'unclear') return undefined;
  const entry = (/** @type {string} */ reason) => [{ typed: line, search: unclear(reason) }];
  const fields = line
    .replace(DROPPED, ' ')
    .replace(/\br\.a\./gi, 'ra')
    .replace(/\bdecl?\./gi, 'dec');
  const words = fields.split(/[\s,;|&()]+/).filter(word => word !== '');
  if (words.some(isLongId)) return undefined;
  if ([...fields.matchAll(WITH_COMMA)].length > 1) return entry(DECIMAL_COMMA);
  const found = sexagesimalIn(words) ?? degreesBeside(words);
  if (!found) {
    if (COLUMN_NAMES.test(line)) return entry(HAS_COLUMNS);
    return TNS_NAME.test(line) && words.filter(word => /^[+-]?\d*\.\d+$/.test(word)).length > 2
      ? entry(SEVERAL_NUMBERS)
      : undefined;
  }
  if (OTHER_FRAME.test(fields)) return entry(OTHER_FRAMES);
  const [before, after] = [words.slice(0, found.from), words.slice(found.to)].map(some => some.join(' '));
  if ([...words.slice(0, found.from), ...words.slice(found.to)].some(word => /^[+-]?\d{1,3}:\d\d/.test(word)))
    return entry(ONE_POSITION);
  const [name] = TNS_NAME.exec(before ?? '') ?? TNS_NAME.exec(after ?? '') ?? [];
  const label = (name ?? found.name ?? (before || words[found.to]) ?? '').replace(/[:=]+$/, '').trim();
  return [{ typed: line, search: found.search, ...(label !== '' && { label: label.slice(0, MAX_LABEL) }) }];
}

/** @typedef {{ from: number, to: number, search: SearchText, name?: string }} FoundWords the words from one index to before another, and the name beside them */

/**
 * The first words that are a sexagesimal position. Without colons or letters, the declination must have a sign.
 * @param {string[]} words @returns {FoundWords | undefined}
 */
function sexagesimalIn(words) {
  for (let from = 0; from < words.length; from++)
    for (let to = Math.min(words.length, from + MAX_WORDS); to > from; to--) {
      const typed = plain(words.slice(from, to).join(' '));
      const { rest } = takeRadius(typed);
      const isMarked = /\d\s*[:h]\s*\d/.test(rest) || /\s[+-]/.test(rest);
      if (isMarked && (SEXAGESIMAL.test(rest) || PACKED.test(rest)))
        return { from, to, search: parseSearchText(typed) };
    }
  return undefined;
}

/**
 * A position in degrees that has only a name before or after it.
 * @param {string[]} words @returns {FoundWords | undefined}
 */
function degreesBeside(words) {
  for (const size of [1, 2, 3])
    for (const [from, to] of /** @type {const} */ ([
      [size, words.length],
      [0, words.length - size],
    ])) {
      const name = (from > 0 ? words.slice(0, from) : words.slice(to)).join(' ');
      const isName =
        NAME.test(plain(name)) || (DESIGNATION.test(name) && !OTHER_FRAME.test(name) && !QUANTITY.test(name));
      if (to - from < 2 || !isName) continue;
      const search = parseSearchText(words.slice(from, to).join(' '));
      if (search.kind === 'position') return { from, to, search, name };
    }
  return undefined;
}

/** Whether the right ascensions of a list that state no unit are more likely hours. @param {readonly Entry[]} entries */
export function listLooksLikeHours(entries) {
  const decimals = entries.flatMap(({ search }) => (search.kind === 'position' && search.isDecimal ? [search] : []));
  return looksLikeHours(
    decimals.map(({ ra }) => ra),
    decimals.map(({ dec }) => dec),
  );
}

/** The entries of a list whose right ascensions without a unit are hours. @param {Entry[]} entries @returns {Entry[]} */
export function inHours(entries) {
  return entries.map(entry => {
    const { search } = entry;
    if (search.kind !== 'position' || !search.isDecimal) return entry;
    const { ra, isDecimal: _, ...others } = search;
    const read =
      ra <= 24 ? { ...others, ra: 15 * ra } : unclear(`Hours of right ascension must be 0 to 24: there is ${ra}`);
    return { ...entry, search: read };
  });
}

/** The input of a lookup that a text is. @param {SearchText} search */
export function inputOf(search) {
  const radius = 'radiusArcsec' in search && search.radiusArcsec;
  const more = radius ? { radius_arcsec: radius } : {};
  if (search.kind === 'id') return { kind: 'id', diaObjectId: search.id };
  if (search.kind === 'tns') return { kind: 'tns', name: search.name, ...more };
  return search.kind === 'position' ? { kind: 'position', ra: search.ra, dec: search.dec, ...more } : {};
}

/** Names of columns. */
const HEAD = /\b(?:_?ra\w*|_?dec\w*|\w*name|label|\w*id|object)\b/i;

/**
 * The entries of a pasted list, for operations that take tables.
 * @param {string} text
 * @param {'deg' | 'h'} [raUnit] of right ascensions without a unit; the entries have degrees
 * @returns {Entry[] | undefined} undefined if the text is a table already, or no list
 */
export function entriesOfList(text, raUnit) {
  const lines = text.split(/[\n\r]+/).filter(line => !isNote(line));
  const [first = '', second = first] = lines;
  const isList = (/** @type {string} */ line) => parseSearchList(line).some(({ search }) => search.kind !== 'unclear');
  const hasHead = !isList(first) && HEAD.test(first);
  if (!isList(first) && (!isList(second) || first === second || (hasHead && isTable(first, second)))) return undefined;
  const entries = parseSearchList((hasHead ? lines.slice(1) : lines).join('\n'));
  return raUnit === 'h' ? inHours(entries) : entries;
}

/**
 * Makes a CSV table of a pasted list. A line that cannot be read becomes a name, which has its own result there.
 * @param {string} text
 * @param {'deg' | 'h'} [raUnit] of right ascensions without a unit; the table has degrees
 * @returns {string | undefined} undefined if the text is a table already, or no list
 */
export function tableOfList(text, raUnit) {
  const rows = entriesOfList(text, raUnit)?.map(({ typed, search, label }) => {
    const name = search.kind === 'position' ? (label ?? '') : search.kind === 'id' ? '' : typed;
    const quoted = name === '' ? '' : `"${name.replaceAll('"', '""')}"`;
    const id = search.kind === 'id' ? search.id : '';
    return search.kind === 'position' ? `${id},${quoted},${search.ra},${search.dec}` : `${id},${quoted},,`;
  });
  return rows && `diaObjectId,name,ra,dec\n${rows.join('\n')}\n`;
}

/**
 * Whether a line of column names and a line below it have as many cells.
 * @param {string} head @param {string} row
 */
function isTable(head, row) {
  if (/\\\\\s*$/.test(row)) return false;
  const separator = /\t/.test(head)
    ? /\t/
    : /,/.test(head)
      ? /,(?=(?:[^"]*"[^"]*")*[^"]*$)/
      : /\|/.test(head)
        ? /\|/
        : /;/.test(head)
          ? /;/
          : /\s+/;
  return head.trim().split(separator).length === row.trim().split(separator).length;
}

/** @param {string} line */
function lineEntries(line) {
  const whole = parseSearchText(line);
  if (whole.kind !== 'unclear') return [{ typed: line, search: whole }];
  const words = line.split(/[\s,;|]+/).filter(word => word !== '');
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

const DECIMAL_COMMA = 'These numbers have decimal commas: write 188.736, with a point';
const HAS_COLUMNS =
  'This is a line of column names: put the whole table into Sample or Crossmatch, which find the columns by their names';
const SEVERAL_NUMBERS =
  'This line has more numbers than a position: put the table, with a line of column names, into Sample or Crossmatch';
const OTHER_FRAMES =
  'This position is in another frame or at another equinox: put the table into Sample or Crossmatch, and name its frame';
const ONE_POSITION = 'A line with several positions can be read in several ways: put each on a line of its own';
const TOO_LONG = `One id, name or position has at most ${MAX_CHARACTERS} characters: put each on a line of its own`;
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
    const found = checked(Number(ra), signed(sign, Number(dec)), radiusArcsec, { ra, dec: `${sign}${dec}` });
    return found.kind === 'position' && !/[a-z°]/.test(text.replace(/ra|dec|\de/g, ''))
      ? { ...found, isDecimal: true }
      : found;
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
