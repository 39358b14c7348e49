/** Reads the hints in a column's name: the axis and the frame of positions, and the unit. */
import { degreesIn } from './frames.ts';

/** The families of frames that names state. `unknown` stands for longitudes and latitudes of any frame. */
export type FrameKind =
  | 'equatorial'
  | 'galactic'
  | 'ecliptic'
  | 'supergalactic'
  | 'horizontal'
  | 'hour angle'
  | 'apparent'
  | 'unknown';

export interface NameHints {
  readonly axis?: 'lon' | 'lat';
  /** Undefined if nothing in the name says that the values are coordinates. */
  readonly kind?: FrameKind;
  /** Whether only a word such as `l` says it, which means something else beside most other names. */
  readonly isWeak: boolean;
  /** The other kind, if a name has words of two kinds. */
  readonly otherKind?: FrameKind;
  /** `icrs`, `fk5` or `fk4`. */
  readonly system?: string;
  /** A year, with `b` or `j` if the name has the letter. */
  readonly equinox?: string;
  /** Whether the name calls the year an epoch. */
  readonly isEpoch: boolean;
  /** The units, as degrees recognise them, or `h:m:s` and `d:m:s`; more than one if the name contradicts itself. */
  readonly units: readonly string[];
  /** Whether the unit stands in brackets, and not among the words. */
  readonly isNoted: boolean;
  /** The name in lower case without notes in brackets, except those that are not understood. */
  readonly stem: string;
  /** The words that say none of this, joined by `_`. */
  readonly rest: string;
}

const AXES: readonly (readonly [kind: FrameKind, lon: string, lat: string])[] = [
  ['equatorial', 'ra rightascension', 'dec de decl declination'],
  ['galactic', 'glon glong gallon gallong gall lii glxlon', 'glat gallat galb bii glxlat'],
  ['ecliptic', 'elon eclon ecllon eclong ecllong', 'elat eclat ecllat'],
  ['supergalactic', 'sgl sglon sglong', 'sgb sglat'],
];
/** These words count only in a name without one of the words above. */
const WEAK_AXES: typeof AXES = [
  ['unknown', 'lon long longitude', 'lat latitude'],
  ['equatorial', 'alpha alphawin α', 'delta deltawin δ'],
  ['galactic', 'l', 'b'],
  ['ecliptic', 'lambda λ', 'beta β'],
  ['horizontal', 'az azimuth', 'alt altitude el elevation'],
  ['hour angle', 'ha hourangle', ''],
];
const KIND_WORDS: Readonly<Record<string, FrameKind>> = {
  ...kinds('equatorial', 'eq equ equatorial'),
  ...kinds('galactic', 'gal galactic glx'),
  ...kinds('ecliptic', 'ecl ecliptic'),
  ...kinds('supergalactic', 'sg sgal supergal supergalactic'),
  ...kinds('horizontal', 'altaz horizontal topocentric'),
  ...kinds('apparent', 'app apparent jnow ofdate cirs tete gcrs'),
};
/** The word may stand for a galaxy beside a right ascension. */
const VAGUE_WORDS: readonly string[] = ['gal', 'sg'];

function kinds(kind: FrameKind, words: string): Record<string, FrameKind> {
  return Object.fromEntries(words.split(' ').map(word => [word, kind]));
}

interface Axis {
  readonly axis: 'lon' | 'lat';
  readonly kind: FrameKind;
}

function axesOf(table: typeof AXES): ReadonlyMap<string, Axis> {
  const of = (axis: 'lon' | 'lat', kind: FrameKind, words: string) =>
    words.split(' ').map((word): [string, Axis] => [word, { axis, kind }]);
  return new Map(table.flatMap(([kind, lon, lat]) => [...of('lon', kind, lon), ...of('lat', kind, lat)]));
}

const STRONG = axesOf(AXES);
const WEAK = axesOf(WEAK_AXES);

const SYSTEM = /^(?:icr[sf]|fk[45])$/;
const YEAR = /^[bj]?(?:18|19|20)\d\d(?:\.\d+)?$/;
/** Units that are no angles, or that `degreesIn` does not know. They are recognised so that they can be refused. */
const OTHER_UNIT = /^(?:pix|pixels?|px|mm|gon|grad|gradians?|[mµμu]rad|turns?|rev|revolutions?|secs?|seconds?)$/;
/** These words are units only in brackets: `ra_second` may be a second right ascension. */
const VAGUE_UNIT = /^(?:second|turn|rev|revolution|grad|mm)$/;
const SHORT_UNIT = /^(?:h|d|m|s|min|minutes?)$/;
const HMS = /^["']?(?:h{1,2}[:\s_]*m{1,2}[:\s_]*s{1,2}(?:\.s+)?|hours?[:\s]min(?:utes?)?[:\s]sec(?:onds?)?)["']?$/;
const DMS =
  /^["']?(?:[+±]?d{1,3}[:\s_]*m{1,2}[:\s_]*s{1,2}(?:\.s+)?|deg(?:rees?)?[:\s](?:arc)?min[:\s](?:arc)?sec)["']?$/;
/** A rate or a power of an angle. */
const COMPOUND = /^[a-zµμ°]+\s*(?:\/|\*\*|\^|\.)\s*\S+$/;

/** The unit that a word states; undefined for any other word. */
function unitOf(word: string): string | undefined {
  if (HMS.test(word)) return 'h:m:s';
  if (DMS.test(word)) return 'd:m:s';
  if (word === 'degs' || word === 'deg.') return 'deg';
  if (word === 'asec') return 'arcsec';
  if (word === 'amin') return 'arcmin';
  if (word === 'hrs') return 'hr';
  if (/^deg(?!$|rees?$)/.test(word)) return undefined;
  // A number alone would be a scale.
  return /[^\d.]/.test(word) && (degreesIn(word) !== undefined || OTHER_UNIT.test(word)) ? word : undefined;
}

/** An axis with a frame and a unit behind it, without separators: `RAB1950`, `RAdeg`, `GLONdeg`, `DECFK4`. */
const GLUED = new RegExp(
  `^(${[...STRONG.keys()].sort((a, b) => b.length - a.length).join('|')})([bj]?(?:18|19|20)\\d\\d(?:\\.\\d+)?|icrs|fk[45])?(deg|degrees?|rad|radians?|hours?|hrs?|hms|dms|arcsec|mas)?$`,
);
const EPOCH = /^(ep(?:och)?)([bj]?(?:18|19|20)\d\d(?:\.\d+)?)$/;
/** Words that only say what a year is. */
const YEAR_WORD = /^(?:equinox|ep|epoch)$/;
const NOTE = /[([{]([^()[\]{}]*)[)\]}]/g;
const SEPARATORS = /(?<!\d)\.|\.(?!\d)|[\s_,:;|/\\~-]+/;

const isAxis = (word: string) => STRONG.has(word) || WEAK.has(word);

function wordsOf(text: string): string[] {
  return text
    .replaceAll('°', ' ° ')
    .replace(/[A-Za-z]+/g, word => (isAxis(word.toLowerCase()) ? word : word.replace(/([a-z])([A-Z])/g, '$1 $2')))
    .toLowerCase()
    .replace(/\br\.\s*a\b\.?/g, 'ra ')
    .replace(/right[\s_-]*ascension/g, 'ra')
    .replace(/super[\s_-]+galactic/g, 'supergalactic')
    .replace(/hour[\s_-]+angle/g, 'hourangle')
    .replace(/of[\s_-]+date/g, 'ofdate')
    .split(SEPARATORS)
    .filter(word => word !== '' && word !== '__proto__')
    .flatMap(word => (GLUED.exec(word) ?? EPOCH.exec(word))?.slice(1).filter(part => part !== undefined) ?? word);
}

/** Longer names say nothing: the time that it takes to read a name may grow faster than its length. */
const MAX_NAME_CHARACTERS = 256;

/** Reads a name. */
export function nameHints(name: string): NameHints {
  if (name.length > MAX_NAME_CHARACTERS)
    return { isWeak: true, isEpoch: false, units: [], isNoted: false, stem: name.toLowerCase(), rest: name };
  const noted: string[] = [];
  const unknown: string[] = [];
  let words: string[] = [];
  const add = (word: string) => {
    words.push(word);
  };
  const plain = name.replace(NOTE, (note, content: string) => {
    const text = content.trim().toLowerCase();
    const unit = unitOf(text) ?? (SHORT_UNIT.test(text) || COMPOUND.test(text) ? text : undefined);
    if (unit !== undefined) {
      noted.push(unit);
      return ' ';
    }
    const parts = wordsOf(content);
    const isKnown = parts.every(
      word =>
        unitOf(word) !== undefined ||
        SYSTEM.test(word) ||
        YEAR.test(word) ||
        YEAR_WORD.test(word) ||
        word in KIND_WORDS,
    );
    if (!isKnown) unknown.push(text);
    for (const part of parts) {
      const ofPart = unitOf(part);
      if (ofPart === undefined) add(part);
      else noted.push(ofPart);
    }
    return isKnown ? ' ' : note;
  });
  words = [...wordsOf(plain.replace(NOTE, ' ')), ...words];
  const strong = words.flatMap(word => STRONG.get(word) ?? []);
  // An hour angle is a unit beside an axis.
  const letters = words.filter(
    word => WEAK.has(word) && (word !== 'hourangle' || !words.some(other => other !== word && isAxis(other))),
  );
  const weak = letters.length === 1 ? [WEAK.get(letters[0]!)!] : [];
  const axes = strong.length > 0 ? strong : weak;
  const [first] = axes;
  const isUnit = (word: string, at: number) => {
    if (word === 'hourangle' && first?.kind === 'hour angle') return false;
    // A single letter is the unit of an axis.
    if (OTHER_UNIT.test(word) && (axes.length === 0 || VAGUE_UNIT.test(word))) return false;
    return unitOf(word) !== undefined || (word === 'h' && at === words.length - 1 && strong.length > 0);
  };
  const inWords = words.filter(isUnit).map(word => unitOf(word) ?? word);
  const isEquatorial = strong.some(({ kind }) => kind === 'equatorial');
  const stated = words.flatMap(word => (isEquatorial && VAGUE_WORDS.includes(word) ? [] : (KIND_WORDS[word] ?? [])));
  const kindsFound = [...new Set([...stated, ...axes.map(({ kind }) => kind)])];
  // A frame among the words decides what a longitude, or a letter such as `l`, is.
  const certain = kindsFound.filter(
    kind => kind !== 'unknown' && (strong.length > 0 || stated.length === 0 || stated.includes(kind)),
  );
  const system = words.find(word => SYSTEM.test(word));
  const years = words.filter(word => YEAR.test(word));
  const kind =
    certain.find(each => each !== 'equatorial') ?? certain[0] ?? (system !== undefined ? 'equatorial' : kindsFound[0]);
  const otherKind = certain.find(each => each !== kind && kind !== 'apparent');
  const isHint = (word: string, at: number) =>
    isUnit(word, at) ||
    STRONG.has(word) ||
    (strong.length === 0 && WEAK.has(word)) ||
    SYSTEM.test(word) ||
    YEAR.test(word) ||
    YEAR_WORD.test(word) ||
    word in KIND_WORDS;
  const axis = axes.every(each => each.axis === first?.axis) ? first?.axis : undefined;
  return {
    ...(axis && { axis }),
    ...(kind && { kind }),
    ...(otherKind && { otherKind }),
    ...(system !== undefined && { system: system.replace('icrf', 'icrs') }),
    ...(years.length > 0 && { equinox: years[0]! }),
    isWeak:
      strong.length === 0 && kind !== 'hour angle' && stated.length === 0 && system === undefined && years.length === 0,
    isEpoch: words.some(word => /^ep(?:och)?$/.test(word)),
    units: [...new Set([...noted, ...inWords])],
    isNoted: noted.length > 0,
    stem: plain.trim().toLowerCase().replace(/\s+/g, '_'),
    rest: [...words.filter((word, at) => !isHint(word, at)), ...unknown].join('_'),
  };
}
