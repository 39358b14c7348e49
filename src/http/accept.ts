/** What a client accepts, and how much it would rather have it (RFC 9110, section 12.5). */
import { type AnswerFormat, FORMATS } from '../contract/formats.ts';

/** The weight of each name in an `Accept` or `Accept-Encoding` header, in lower case: 0 to 1, and 0 where it is no such number. */
export function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const item of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map(part => part.trim());
    const q = parameters.find(parameter => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1));
    if (name !== '') weights.set(name, weight >= 0 && weight <= 1 ? weight : 0);
  }
  return weights;
}

const NAMES: ReadonlyMap<string, AnswerFormat> = new Map(FORMATS.map(({ mediaType, name }) => [mediaType, name]));

/**
 * The format with the highest weight among those that are named; of those with the same weight the first that is not JSON. JSON where none
 * is, or where it has a higher weight, be it by a wildcard: `text/*` names nothing.
 */
export function preferredFormat(accept: string | null): AnswerFormat {
  if (accept === null || accept === '*/*') return 'json';
  const weights = weightsOf(accept);
  let best: AnswerFormat = 'json';
  let bestWeight = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  for (const [name, weight] of weights) {
    const format = NAMES.get(name);
    if (format === undefined || format === 'json' || weight === 0) continue;
    if (weight > bestWeight || (weight === bestWeight && best === 'json')) {
      best = format;
      bestWeight = weight;
    }
  }
  return best;
}
