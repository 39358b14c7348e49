/** Intervals of counts and fractions, at 95%. */

const LOWER = 0.025;
const UPPER = 0.975;

/**
 * The least counts at which the distribution of Poisson with this mean, 0 or more, reaches 2.5% and 97.5%: the interval
 * of `scipy.stats.poisson.interval(0.95, mean)`.
 */
export function poissonInterval(mean: number): [number, number] {
  if (mean === 0) return [0, 0];
  // Relative to the probability of the most probable count, because the probabilities themselves may be too small.
  const mode = Math.floor(mean);
  const width = Math.ceil(12 * Math.sqrt(mean) + 40);
  const first = Math.max(0, mode - width);
  const weights = new Float64Array(mode + width - first + 1);
  weights[mode - first] = 1;
  for (let count = mode; count > first; count--) weights[count - 1 - first] = (weights[count - first]! * count) / mean;
  for (let count = mode; count < mode + width; count++)
    weights[count + 1 - first] = (weights[count - first]! * mean) / (count + 1);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const reaching = (fraction: number) => {
    let sum = 0;
    let at = 0;
    for (; at < weights.length && (sum += weights[at]!) < fraction * total; at++);
    return first + at;
  };
  return [reaching(LOWER), reaching(UPPER)];
}

/** The normal quantile of 97.5%. */
const Z = 1.959963984540054;

/** The interval of a fraction after Wilson 1927, JASA 22, 209; null without trials. */
export function wilsonInterval(successes: number, trials: number): [number, number] | null {
  if (trials === 0) return null;
  const fraction = successes / trials;
  const scale = 1 + Z ** 2 / trials;
  const centre = (fraction + Z ** 2 / (2 * trials)) / scale;
  const half = (Z / scale) * Math.sqrt((fraction * (1 - fraction)) / trials + Z ** 2 / (4 * trials ** 2));
  // Without rounding, these two borders are exact.
  return [successes === 0 ? 0 : centre - half, successes === trials ? 1 : centre + half];
}
