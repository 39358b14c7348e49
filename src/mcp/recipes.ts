/** Ready-to-run API requests for what an answer leaves out. */
import type { Circle } from '../../workers/tasks.ts';
import type { PlacedIdentifier } from './identifiers.ts';

/** Objects of a page that the recipe of a position asks for. */
const PAGE_SIZE = 100;

/**
 * A `curl` command, in one line, that looks up every identifier that there is a way to look up.
 * @param base scheme and host, without a slash at the end
 */
export function lookupCommand(base: string, identifiers: readonly PlacedIdentifier[]): string {
  const inputs = identifiers.flatMap<Record<string, string>>(identifier => {
    if (identifier.kind === 'diaObjectId') return [{ kind: 'id', diaObjectId: identifier.canonical }];
    return identifier.kind === 'tns_name' ? [{ kind: 'tns', name: identifier.canonical }] : [];
  });
  const body = JSON.stringify({ inputs, detail: 'full' });
  const words = ['-sS', '-X', 'POST', shellQuote(`${base}/api/lookup`)];
  return ['curl', ...words, '-H', shellQuote('Content-Type: application/json'), '--data', shellQuote(body)].join(' ');
}

/** The address of a position's first page. */
export function coneUrl(base: string, { ra, dec, radiusArcsec }: Circle): string {
  return `${base}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${radiusArcsec}&detail=full&page_size=${PAGE_SIZE}`;
}

/** The text as one word of a POSIX shell, in single quotes. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
