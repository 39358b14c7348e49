/** Ready-to-run API requests for the objects that an answer omits. */
import type { Circle } from '../../core/answers/queries.ts';
import type { Config } from '../../core/config/config.ts';
import type { PlacedIdentifier } from './identifiers.ts';

const PAGE_SIZE = 100;

type Input = Readonly<Record<string, string>>;

/**
 * A shell command that looks up every valid identifier: one `curl` command, or several in sequence if the limits of a
 * request require it.
 * @param base the address of the API, without a slash at the end
 */
export function lookupCommand(base: string, identifiers: readonly PlacedIdentifier[], config: Config): string {
  const requests: { readonly inputs: Input[]; ids: number; names: number }[] = [];
  for (const identifier of identifiers) {
    if (!('canonical' in identifier)) continue;
    const isId = identifier.kind === 'diaObjectId';
    let request = requests.at(-1);
    const isFull = request && (isId ? request.ids >= config.API_MAX_IDS : request.names >= config.API_MAX_POSITIONS);
    if (!request || isFull) requests.push((request = { inputs: [], ids: 0, names: 0 }));
    request[isId ? 'ids' : 'names']++;
    request.inputs.push(
      isId ? { kind: 'id', diaObjectId: identifier.canonical } : { kind: 'tns', name: identifier.canonical },
    );
  }
  return requests.map(({ inputs }) => curl(base, inputs)).join(' && ');
}

function curl(base: string, inputs: readonly Input[]): string {
  const body = JSON.stringify({ inputs, detail: 'full' });
  const words = ['-sS', '-X', 'POST', shellQuote(`${base}/api/lookup`)];
  return ['curl', ...words, '-H', shellQuote('Content-Type: application/json'), '--data', shellQuote(body)].join(' ');
}

/** The address of the first page of a position. */
export function coneUrl(base: string, { ra, dec, radiusArcsec }: Circle): string {
  return `${base}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${radiusArcsec}&detail=full&page_size=${PAGE_SIZE}`;
}

/** Quotes a text as a single word of a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
