/** The media types or codings that a client accepts, and their weights (RFC 9110, section 12.5). */
import { type AnswerFormat, FORMATS } from '../contract/formats.ts';

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

const mediaTypesOf = ({ mediaType, synonyms = [] }: Omit<FurtherFormat<unknown>, 'name'>) => [mediaType, ...synonyms];
const NAMES: ReadonlyMap<string, AnswerFormat> = new Map(
  FORMATS.flatMap(format => mediaTypesOf(format).map(type => [type, format.name] as const)),
);

/** A format that some answers have besides the general ones. */
interface FurtherFormat<Name> {
  readonly name: Name;
  readonly mediaType: string;
  readonly synonyms?: readonly string[];
}

/**
 * Chooses the format that `Accept` names with the highest weight. Among equal weights, the first format that is not
 * JSON wins. JSON wins if its weight is higher, even if a wildcard gives it that weight. The answer is also JSON if the
 * client names no other format: it is never refused.
 * @param further formats that this answer has, too
 */
export function preferredFormat<Name extends string = never>(
  accept: string | null,
  further: readonly FurtherFormat<Name>[] = [],
): AnswerFormat | Name {
  if (accept === null || accept === '*/*' || accept === 'application/json') return 'json';
  const weights = weightsOf(accept);
  let best: AnswerFormat | Name = 'json';
  let bestWeight = weights.get('application/json') ?? weights.get('application/*') ?? weights.get('*/*') ?? 0;
  for (const [name, weight] of weights) {
    const format = NAMES.get(name) ?? further.find(each => mediaTypesOf(each).includes(name))?.name;
    if (format === undefined || format === 'json' || weight === 0) continue;
    if (weight > bestWeight || (weight === bestWeight && best === 'json')) {
      best = format;
      bestWeight = weight;
    }
  }
  return best;
}

/** Whether `Accept` names FITS first. Only answers to sent tables can be FITS, so it is not among the general formats. */
export function acceptsFits(accept: string | null): boolean {
  return /^\s*application\/fits\s*(?:;|$)/i.test(accept ?? '');
}
