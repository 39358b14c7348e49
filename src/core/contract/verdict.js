/**
 * What a catalog says a source is. The rules stand in the catalog's definition. A verdict is about the source alone: it
 * classifies no transient, and names no host. The pages load this file, too.
 *
 * @typedef {(typeof VERDICTS)[number]['name']} Verdict
 *
 * A rule is met if a value lies between `min` and `max`, both inclusive: that of a column, or of a quotient of two
 * columns, or the root of the sum of the squares of several. `label` is the value in words, if it is not a column's.
 * `of` has payload keys: the numerator, and the denominator of a quotient. `paper` is where the threshold comes from.
 * @typedef {{
 *   readonly verdict: Exclude<Verdict, 'unclear'>,
 *   readonly label?: string,
 *   readonly of: readonly (readonly string[])[],
 *   readonly min?: number,
 *   readonly max?: number,
 *   readonly paper: string,
 * }} VerdictRule
 */
export const VERDICTS = /** @type {const} */ ([
  { name: 'star', meaning: 'only rules for stars are met' },
  { name: 'galaxy', meaning: 'only rules for galaxies are met' },
  { name: 'quasar', meaning: 'only rules for quasars are met' },
  { name: 'unclear', meaning: 'no rule is met, or rules contradict each other, or the catalog has none' },
]);

/**
 * The payload keys that a rule reads.
 * @param {VerdictRule} rule @returns {readonly string[]}
 */
export const ruleKeys = ({ of }) => of.flat();

/**
 * The verdict on a source, and the values that it rests on.
 * @param {{ readonly name: string, readonly verdicts?: readonly VerdictRule[] | undefined }} definition
 * @param {Readonly<Record<string, unknown>> | null} payload by lower-case key
 * @returns {{ readonly verdict: Verdict, readonly reason: string }}
 */
export function verdictOf({ name, verdicts = [] }, payload) {
  if (verdicts.length === 0) return { verdict: 'unclear', reason: `the definition of ${name} has no rules` };
  const values = verdicts.map(rule => ({ rule, value: ruleValue(rule, key => () => numberOf(payload?.[key]))(0) }));
  const met = values.filter(({ rule, value }) => isMet(rule, value));
  const [first, ...others] = new Set(met.map(({ rule }) => rule.verdict));
  const shown = [...new Set(met.map(({ rule, value }) => shownRule(rule, value)))].join('; ');
  if (first && others.length === 0) return { verdict: first, reason: shown };
  if (first) return { verdict: 'unclear', reason: `contradictory: ${shown}` };
  const known = [
    ...new Set(
      values.filter(each => !Number.isNaN(each.value)).map(({ rule, value }) => `${labelOf(rule)} ${digits(value)}`),
    ),
  ];
  return {
    verdict: 'unclear',
    reason: known.length > 0 ? `no rule is met: ${known.join('; ')}` : 'its columns are empty',
  };
}

/**
 * The verdicts on many sources, without the values that they rest on.
 * @param {readonly VerdictRule[]} rules
 * @param {number} sources
 * @param {(key: string) => (at: number) => unknown} columnOf the values of a payload key in lower case
 * @returns {Verdict[]}
 */
export function verdictsOf(rules, sources, columnOf) {
  const read = rules.map(rule => {
    const value = ruleValue(rule, key => {
      const cell = columnOf(key);
      return at => numberOf(cell(at));
    });
    return { rule, value };
  });
  return Array.from({ length: sources }, (_, at) => {
    /** @type {Verdict | undefined} */
    let found;
    for (const { rule, value } of read) {
      if (rule.verdict === found || !isMet(rule, value(at))) continue;
      if (found) return 'unclear';
      found = rule.verdict;
    }
    return found ?? 'unclear';
  });
}

/**
 * Catalogs store most values in 32 bits, which have no 0.9: a value that is printed as a bound meets it.
 * @param {VerdictRule} rule @param {number} value
 */
const isMet = ({ min = -Infinity, max = Infinity }, value) =>
  value >= Math.min(min, Math.fround(min)) && value <= Math.max(max, Math.fround(max));

/** @param {unknown} value */
const numberOf = value => (typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN);

/**
 * The value of a rule for each source: NaN if a column is empty, or a denominator is not above 0.
 * @param {VerdictRule} rule
 * @param {(key: string) => (at: number) => number} columnOf
 * @returns {(at: number) => number}
 */
function ruleValue({ of }, columnOf) {
  const terms = of.map(([numerator = '', denominator]) => {
    const above = columnOf(numerator.toLowerCase());
    if (denominator === undefined) return above;
    const below = columnOf(denominator.toLowerCase());
    return (/** @type {number} */ at) => {
      const divisor = below(at);
      return divisor > 0 ? above(at) / divisor : Number.NaN;
    };
  });
  const [only] = terms;
  return only && terms.length === 1 ? only : at => Math.hypot(...terms.map(term => term(at)));
}

/** @param {VerdictRule} rule */
const labelOf = ({ label, of }) => label ?? (of[0] ?? []).join('/').toLowerCase();
/** @param {number} value */
const digits = value => `${Number(value.toPrecision(3))}`;

/** @param {VerdictRule} rule @param {number} value */
function shownRule(rule, value) {
  const { verdict, min, max } = rule;
  const range = min === undefined ? `up to ${max}` : max === undefined ? `from ${min}` : `${min} to ${max}`;
  return `${labelOf(rule)} ${digits(value)} (${verdict}: ${range})`;
}
