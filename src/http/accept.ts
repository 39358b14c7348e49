/** The media types or codings that a client accepts, and their weights (RFC 9110, section 12.5). */
import { type AnswerFormat, FORMATS, TABLE_FORMATS } from '../contract/formats.ts';

/**
 * The weight of each name in an `Accept` or `Accept-Encoding` header, in lower case: 0 to 1; an invalid weight counts
 * as 0.
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

const mediaTypesOf = ({ mediaType, synonyms = [] }: (typeof FORMATS)[number] & { synonyms?: readonly string[] }) => [
  mediaType,
  ...synonyms,
];
const NAMES: ReadonlyMap<string, AnswerFormat> = new Map(
  FORMATS.flatMap(format => mediaTypesOf(format).map(type => [type, format.name] as const)),
);
/** The formats that a wildcard can select if it excludes JSON. */
const BY_WILDCARD = [...TABLE_FORMATS, ...FORMATS];

/**
 * Chooses the named format with the highest weight. Among equal weights, the first format that is not JSON wins. JSON
 * wins if its weight is higher, even if a wildcard gives it that weight. Undefined if the client accepts no format,
 * neither by name nor by a wildcard (decision P15).
 */
export function preferredFormat(accept: string | null): AnswerFormat | undefined {
  if (accept === null || accept === '*/*' || accept === 'application/json') return 'json';
  const weights = weightsOf(accept);
  if (weights.size === 0) return 'json';
  const weightOf = (type: string) =>
    weights.get(type) ?? weights.get(`${type.split('/')[0]}/*`) ?? weights.get('*/*') ?? 0;
  let best: AnswerFormat | undefined;
  let bestWeight = weightOf('application/json');
  if (bestWeight > 0) best = 'json';
  for (const [name, weight] of weights) {
    const format = NAMES.get(name);
    if (format === undefined || format === 'json' || weight === 0) continue;
    if (weight > bestWeight || (weight === bestWeight && best === 'json')) {
      best = format;
      bestWeight = weight;
    }
  }
  // A wildcard that does not match JSON selects the first matching format: `text/*` selects CSV.
  return best ?? BY_WILDCARD.find(({ mediaType }) => weightOf(mediaType) > 0)?.name;
}
