import { type ByteSink, fragment } from '../base/bytes.ts';
import type { Circle } from './queries.ts';

const INPUT = fragment(', "kind": "position", "input": ');
const NORMALIZED = fragment(', "normalized": {"kind": "position", "ra": ');
const DEC = fragment(', "dec": ');
const RADIUS = fragment(', "radius_arcsec": ');
const STATUS = fragment('}, "status": "');

/**
 * The part of a result about its position: from its kind to its status, whose closing quote is left to the next part.
 */
export function writePosition(
  body: ByteSink,
  { sent, ra, dec, radiusArcsec }: Circle & { readonly sent: string },
  status: string,
): void {
  body.fragment(INPUT);
  body.longText(sent);
  body.fragment(NORMALIZED);
  body.number(ra);
  body.fragment(DEC);
  body.number(dec);
  body.fragment(RADIUS);
  body.number(radiusArcsec);
  body.fragment(STATUS);
  body.text(status);
}
