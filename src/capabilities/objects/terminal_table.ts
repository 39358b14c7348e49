/** Formats objects as a table for people at a terminal, up to 100 columns wide. */

import { printable } from '../../core/base/error_text.ts';
import { TABLE } from '../../core/cli/ask.ts';
import type { Invocation } from '../../core/cli/command.ts';
import { PROJECT_CATALOGS } from '../../core/contract/catalogs.ts';
import { separationText } from './near_words.js';
import { mainMagnitudeText } from './photometry.js';

/** The members of an object in a JSON answer; the level of detail decides which ones are present. */
interface Found {
  readonly diaObjectId_str: string;
  readonly status: string;
  /** Degrees; null if the alert's position is invalid. */
  readonly ra?: number | null;
  readonly dec?: number | null;
  /** The distance from the centre of the cone. */
  readonly separation_arcsec?: number;
  readonly matches?: readonly { readonly catalog_name: string; readonly separation_arcsec: number }[];
}

interface Column {
  readonly head: string;
  readonly width: number;
  readonly isRight?: true;
}

const OBJECT: readonly Column[] = [
  { head: 'diaObjectId', width: 19 },
  { head: 'RA', width: 10, isRight: true },
  { head: 'Dec', width: 10, isRight: true },
];
const OFFSET: Column = { head: 'arcsec', width: 7, isRight: true };
const SOURCES: readonly Column[] = [
  { head: 'status', width: 20 },
  { head: 'source in', width: 14 },
  { head: 'arcsec', width: 6, isRight: true },
];

/** Whether a command prints its answer as a table: on request, or at a terminal if no other format is requested. */
export function isForPeople({ options, flags }: Invocation): boolean {
  const format = options.get('format');
  return format === TABLE || (format === undefined && !flags.has('json') && process.stdout.isTTY === true);
}

export class TerminalTable {
  readonly #columns: readonly Column[];
  readonly #hasOffset: boolean;

  /** @param hasOffset whether the objects have a distance from a position */
  constructor(hasOffset: boolean) {
    this.#hasOffset = hasOffset;
    this.#columns = [...OBJECT, ...(hasOffset ? [OFFSET] : []), ...SOURCES];
  }

  head(): string {
    return this.#line(this.#columns.map(({ head }) => head));
  }

  /** The line for an input that matches no object, or several. */
  input(text: string, status: string): string {
    return this.#line([text, '', '', ...(this.#hasOffset ? [''] : []), status]);
  }

  /** The lines of an object: one for each of its sources, nearest first. */
  object({ diaObjectId_str, status, ra, dec, separation_arcsec: offset, matches = [] }: Found): string {
    const about = [
      diaObjectId_str,
      fixed(ra, 6),
      fixed(dec, 6),
      ...(this.#hasOffset ? [fixed(offset, 2)] : []),
      status,
    ];
    const nearestFirst = matches.toSorted((a, b) => a.separation_arcsec - b.separation_arcsec);
    const sources = nearestFirst.map(match => [match.catalog_name, fixed(match.separation_arcsec, 2)]);
    const [first = [], ...others] = sources;
    return [
      this.#line([...about, ...first]),
      ...others.map(source => this.#line([...about.map(() => ''), ...source])),
    ].join('');
  }

  #line(cells: readonly string[]): string {
    return lineOf(this.#columns, cells);
  }
}

const NEARBY: readonly Column[] = [
  { head: 'catalog', width: 14 },
  { head: 'source', width: 20 },
  { head: 'arcsec', width: 7, isRight: true },
  { head: 'magnitude', width: 9, isRight: true },
  { head: 'verdict', width: 7 },
];

/** The members of a source in the answer of GET /api/sources. */
interface NearbySource {
  readonly catalog_name: string;
  readonly catalog_source_id: string;
  readonly separation_arcsec: number;
  readonly magnitude: number | null;
  readonly band: string | null;
  readonly verdict: string;
  readonly catalog_payload: Readonly<Record<string, unknown>> | null;
}

/**
 * A table of the sources near a position.
 * @param radiusArcsec of the crossmatch: no source beyond it has a separation that seems to lie within
 */
export function sourceLines(sources: readonly NearbySource[], radiusArcsec: number): string {
  const rows = sources.map(({ catalog_name: name, catalog_source_id, separation_arcsec, verdict, ...source }) => [
    name,
    catalog_source_id,
    separationText(separation_arcsec, radiusArcsec),
    mainMagnitudeText(PROJECT_CATALOGS.get(name)?.photometry, source.catalog_payload) ??
      (source.magnitude === null ? '' : `${source.band} ${fixed(source.magnitude, 2)}`),
    verdict,
  ]);
  return [NEARBY.map(({ head }) => head), ...rows].map(cells => lineOf(NEARBY, cells)).join('');
}

function lineOf(columns: readonly Column[], cells: readonly string[]): string {
  const padded = columns.map(({ width, isRight }, i) => {
    const cell = cells[i] ?? '';
    return isRight ? cell.padStart(width) : cell.padEnd(width);
  });
  return `${printable(padded.join('  ').trimEnd())}\n`;
}

function fixed(value: number | null | undefined, digits: number): string {
  return value === null || value === undefined ? '' : value.toFixed(digits);
}
