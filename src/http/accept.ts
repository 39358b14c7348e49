/** The media types or codings that a client accepts, and their weights (RFC 9110, section 12.5). */
import { type AnswerFormat, FORMATS } from '../contract/formats.ts';

/**
 * The weight of each name in an `Accept` or `Accept-Encoding` header, in lower case: 0 to 1, and 0 where it is no such
 * number.
 */
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
 * The format with the highest weight among those that are named; of several with the same weight, the first that is
 * not JSON. JSON where it has a higher weight, even by a wildcard. Undefined where no format is accepted, by its name or
 * by a wildcard (decision P15).
 */
export function preferredFormat(accept: string | null): AnswerFormat | undefined {
  if (accept === null || accept === '*/*' || accept === '' || accept === 'application/json') return 'json';
  const weights = weightsOf(accept);
  let best: AnswerFormat | undefined;
  let bestWeight = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  if (bestWeight > 0) best = 'json';
  for (const [name, weight] of weights) {
    const format = NAMES.get(name);
    if (format === undefined || format === 'json' || weight === 0) continue;
    if (weight > bestWeight || (weight === bestWeight && best === 'json')) {
      best = format;
      bestWeight = weight;
    }
  }
  // A wildcard that JSON does not meet is met by the first format that does: `text/*` by CSV.
  return best ?? FORMATS.find(({ mediaType }) => weights.get(`${mediaType.split('/')[0]}/*`))?.name;
}
