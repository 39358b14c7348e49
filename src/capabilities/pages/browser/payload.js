/**
 * Selects the deciding columns of a source: magnitudes, colours, parallax and proper motion, photometric redshift,
 * star or galaxy. Each value has its error, its unit, and the digits that its error justifies.
 *
 * @typedef {{ label: string, parts: string[], title?: string }} Fact `parts` are side by side, without line breaks
 * inside
 * @typedef {Record<string, unknown>} Payload
 * @typedef {import('../../../core/contract/catalog.ts').Highlight} Highlight
 * @typedef {import('../../../core/contract/catalog.ts').Photometry} Photometry
 * @typedef {import('../../../core/contract/verdict.js').VerdictRule} VerdictRule
 * @typedef {{ name: string, release: string, idType?: string | undefined, radiusArcsec?: number, reference?: { paper: string, paperUrl: string }, marker: string, photometry: Photometry, highlights: readonly Highlight[], verdicts?: readonly VerdictRule[] }} CatalogData
 * @typedef {Pick<CatalogData, 'photometry' | 'highlights'> | undefined} Shown undefined if the service does not have
 * the catalog
 */

import { magnitudeError, magnitudesOf, mainMagnitudeText } from '../../objects/photometry.js';
import { fixed, measured } from './format.js';

/** A parallax of at least this many times its error gives a distance. */
const GOOD_PARALLAX = 5;

/** @param {Payload} payload @param {string} key @returns {number | undefined} */
function numberOf(payload, key) {
  const value = payload[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/**
 * Describes a catalog's source in a few words: star or galaxy, magnitude, and the parallax if it is significant.
 * @param {Shown} catalog
 * @param {Payload | null | undefined} payload
 * @returns {string[]}
 */
export function inShort(catalog, payload) {
  if (!payload) return [];
  const main = mainMagnitudeText(catalog?.photometry, payload);
  const [system] = (catalog?.photometry.system ?? '').split(',');
  const parts = main ? [`${main}${system ? ` (${system})` : ''}`] : [];
  for (const line of catalog?.highlights ?? []) {
    const isKind = line.kind === 'probabilities' || line.kind === 'code' || line.kind === 'starness';
    if (isKind) {
      const [text = ''] = drawn(line, payload).parts;
      if (text) parts.unshift(text.replace(/^(star|galaxy|quasar) (> 99 %|\d+ %)$/, '$1 ($2)'));
    } else if (line.kind === 'parallax') {
      const [parallax, error] = [numberOf(payload, line.value), numberOf(payload, line.error)];
      if (parallax !== undefined && error !== undefined && parallax >= GOOD_PARALLAX * error)
        parts.push(`parallax ${measured(parallax, error)} mas`);
    }
  }
  return parts;
}

/**
 * What a match is worth (docs/statistics.md), as far as it is known, such as `by chance 0.04 %` and `counterpart: 97 %`.
 * @param {any} match @returns {string[]}
 */
export function worthParts(match) {
  const chance = chanceText(match);
  const { match_probability: one, any_match_probability: any } = match.statistics ?? {};
  return [
    ...(chance === undefined ? [] : [chance]),
    ...(one === undefined || any === undefined ? [] : [`counterpart: ${percentText(one * any)}`]),
  ];
}

/**
 * The probability that an unrelated source lies as close, if it is known, such as `by chance 0.04 %`.
 * @param {any} match @returns {string | undefined}
 */
export function chanceText({ statistics }) {
  const chance = statistics?.chance_probability;
  return chance === undefined ? undefined : `by chance ${percentText(chance)}`;
}

/**
 * A probability, such as `0.04 %`.
 * @param {number} probability
 */
export function percentText(probability) {
  const share = 100 * probability;
  if (share < 0.01) return '< 0.01 %';
  return share > 99 ? '> 99 %' : `${Number(share.toPrecision(share < 1 ? 1 : 2))} %`;
}

/** @param {Shown} catalog @param {Payload | undefined} payload @returns {Fact[]} */
export function highlights(catalog, payload) {
  if (!payload) return [];
  const photometry = magnitudesOf(catalog?.photometry, payload).map(each => ({
    ...each,
    error: magnitudeError(each.band, payload),
  }));
  const { system = '', colours: pairs = [] } = catalog?.photometry ?? {};
  const magnitudes = photometry.map(({ letter, magnitude, error }) => `${letter} ${measured(magnitude, error, 3, 3)}`);
  const byLetter = new Map(photometry.map(each => [each.letter, each]));
  const colours = pairs.flatMap(([blue, red]) => {
    const [a, b] = [byLetter.get(blue), byLetter.get(red)];
    if (!a || !b) return [];
    const error = a.error !== undefined && b.error !== undefined ? Math.hypot(a.error, b.error) : undefined;
    return [`${blue} − ${red} ${measured(a.magnitude - b.magnitude, error, 2, 3)}`];
  });
  return [
    { label: 'Magnitudes', parts: magnitudes.length > 0 ? magnitudes : ['none'], title: `${system} magnitudes` },
    ...(colours.length > 0 ? [{ label: colours.length > 1 ? 'Colours' : 'Colour', parts: colours }] : []),
    ...(catalog?.highlights ?? []).flatMap(each => highlight(each, payload)),
  ];
}

/**
 * A line about a source; empty if the source lacks the values.
 * @param {Highlight} line
 * @param {Payload} payload
 * @returns {Fact[]}
 */
function highlight(line, payload) {
  const { parts, title = line.title } = drawn(line, payload);
  return parts.length > 0 ? [{ label: line.label, parts, ...(title !== undefined && { title }) }] : [];
}

/** @param {Highlight} line @param {Payload} payload @returns {{ parts: string[], title?: string }} */
function drawn(line, payload) {
  switch (line.kind) {
    case 'value': {
      const value = numberOf(payload, line.value);
      const isThere = value !== undefined && value >= line.min;
      return { parts: [isThere ? measured(value, numberOf(payload, line.error), line.digits) : 'none'] };
    }
    case 'parallax':
      return { parts: parallaxParts(line, payload) };
    case 'motion':
      return motion(line, payload);
    case 'probabilities':
      return { parts: probabilityParts(line, payload) };
    case 'code': {
      const code = numberOf(payload, line.value);
      return {
        parts: code === undefined ? [] : [`${line.words[code] ?? 'none'} (${line.value.toUpperCase()} ${code})`],
      };
    }
    case 'starness': {
      const value = numberOf(payload, line.value);
      if (value === undefined) return { parts: [] };
      const word = value >= line.starFrom ? 'star' : value <= line.galaxyTo ? 'galaxy' : 'ambiguous';
      return { parts: [`${word} (${line.value} ${fixed(value, 2)})`] };
    }
    case 'notes':
      return { parts: noteParts(line, payload) };
    case 'flags': {
      const set = line.of.filter(key => (numberOf(payload, key) ?? 0) !== 0);
      const named = line.of.length > 1;
      return { parts: set.map(key => (named ? `${key.toUpperCase()} ${payload[key]}` : `${payload[key]}`)) };
    }
  }
}

/** @param {Extract<Highlight, { kind: 'parallax' }>} line @param {Payload} payload */
function parallaxParts(line, payload) {
  const [parallax, error] = [numberOf(payload, line.value), numberOf(payload, line.error)];
  if (parallax === undefined) return [line.none];
  const isGood = error !== undefined && parallax >= GOOD_PARALLAX * error;
  const distance = isGood ? [`some ${Number((1000 / parallax).toPrecision(2))} pc`] : [];
  return [`${measured(parallax, error)} mas`, ...distance];
}

/** @param {Extract<Highlight, { kind: 'motion' }>} line @param {Payload} payload */
function motion({ east, north, errors }, payload) {
  const [a, b] = [numberOf(payload, east), numberOf(payload, north)];
  if (a === undefined || b === undefined) return { parts: [] };
  const [aError, bError] = errors.map(key => numberOf(payload, key));
  return {
    parts: [`${measured(a, aError)} E`, `${measured(b, bError)} N`, 'mas/yr'],
    title: `To the east and to the north; together ${measured(Math.hypot(a, b), undefined)} mas/yr`,
  };
}

/** @param {Extract<Highlight, { kind: 'probabilities' }>} line @param {Payload} payload */
function probabilityParts({ of }, payload) {
  return of
    .flatMap(([word, key]) => {
      const probability = numberOf(payload, key);
      return probability === undefined ? [] : [{ word, probability }];
    })
    .toSorted((a, b) => b.probability - a.probability)
    .filter(({ probability }) => probability >= 0.005)
    .map(({ word, probability }) => `${word} ${percent(probability)}`);
}

/** @param {Extract<Highlight, { kind: 'notes' }>} line @param {Payload} payload */
function noteParts({ of }, payload) {
  return of.flatMap(({ before, value: key, digits, poorAbove = Number.POSITIVE_INFINITY }) => {
    const value = numberOf(payload, key);
    return value === undefined ? [] : [`${before}${fixed(value, digits)}${value > poorAbove ? ', poor' : ''}`];
  });
}

/** @param {number} share */
function percent(share) {
  return share > 0.995 ? '> 99 %' : `${Math.round(100 * share)} %`;
}
