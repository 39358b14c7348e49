/** The media types or codings that a client accepts, and their weights (RFC 9110, section 12.5). */
import { type AnswerFormat, FORMATS, TABLE_FORMATS } from '../contract/formats.ts';

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

const mediaTypesOf = ({ mediaType, synonyms = [] }: (typeof FORMATS)[number] & { synonyms?: readonly string[] }) => [
  mediaType,
  ...synonyms,
];
const NAMES: ReadonlyMap<string, AnswerFormat> = new Map(
  FORMATS.flatMap(format => mediaTypesOf(format).map(type => [type, format.name] as const)),
);
/** What wildcards allow, where they do not allow JSON. */
const BY_WILDCARD = [...TABLE_FORMATS, ...FORMATS];

/**
 * The format with the highest weight among those that are named; of several with the same weight, the first that is
 * not JSON. JSON where it has a higher weight, even by a wildcard. Undefined where no format is accepted, by its name or
 * by a wildcard (decision P15).
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
  // A wildcard that JSON does not meet is met by the first format that does: `text/*` by CSV.
  return best ?? BY_WILDCARD.find(({ mediaType }) => weightOf(mediaType) > 0)?.name;
}
