/**
 * What a catalog says a source is. The rules stand in the catalog's definition. A verdict is about the source alone: it
 * classifies no transient, and names no host.
 */
export const VERDICTS = [
  { name: 'star', meaning: 'only rules for stars are met' },
  { name: 'galaxy', meaning: 'only rules for galaxies are met' },
  { name: 'quasar', meaning: 'only rules for quasars are met' },
  { name: 'unclear', meaning: 'no rule is met, or rules contradict each other, or the catalog has none' },
] as const;
export type Verdict = (typeof VERDICTS)[number]['name'];

/**
 * A rule is met if a value lies between `min` and `max`, both inclusive: that of a column, or of a quotient of two columns,
 * or the root of the sum of the squares of several.
 */
export interface VerdictRule {
  readonly verdict: Exclude<Verdict, 'unclear'>;
  /** The value in words, if it is not a column's. */
  readonly label?: string;
  /** Payload keys: the numerator, and the denominator of a quotient. */
  readonly of: readonly (readonly string[])[];
  readonly min?: number;
  readonly max?: number;
  /** The paper that the threshold comes from. */
  readonly paper: string;
}

/** The payload keys that a rule reads. */
export const ruleKeys = ({ of }: VerdictRule): readonly string[] => of.flat();

/**
 * The verdict on a source, and the values that it rests on.
 * @param payload by lower-case key
 */
export function verdictOf(
  { name, verdicts = [] }: { readonly name: string; readonly verdicts?: readonly VerdictRule[] },
  payload: Readonly<Record<string, unknown>> | null,
): { readonly verdict: Verdict; readonly reason: string } {
  if (verdicts.length === 0) return { verdict: 'unclear', reason: `the definition of ${name} has no rules` };
  const values = verdicts.map(rule => ({ rule, value: ruleValue(rule, payload ?? {}) }));
  const met = values.filter(
    ({ rule: { min, max }, value }) => value >= (min ?? -Infinity) && value <= (max ?? Infinity),
  );
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

/** NaN if a column is empty, or a denominator is not above 0. */
function ruleValue({ of }: VerdictRule, payload: Readonly<Record<string, unknown>>): number {
  const numberOf = (key: string) => {
    const value = payload[key.toLowerCase()];
    return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN;
  };
  const values = of.map(([numerator, denominator]) => {
    const divisor = denominator === undefined ? 1 : numberOf(denominator);
    return divisor > 0 ? numberOf(numerator!) / divisor : Number.NaN;
  });
  return values.length === 1 ? values[0]! : Math.hypot(...values);
}

const labelOf = ({ label, of }: VerdictRule) => label ?? of[0]!.join('/').toLowerCase();
const digits = (value: number) => `${Number(value.toPrecision(3))}`;

function shownRule(rule: VerdictRule, value: number): string {
  const { verdict, min, max } = rule;
  const range = min === undefined ? `up to ${max}` : max === undefined ? `from ${min}` : `${min} to ${max}`;
  return `${labelOf(rule)} ${digits(value)} (${verdict}: ${range})`;
}
