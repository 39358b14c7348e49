/** Reads the arguments of the tools (docs/contract.md, Connector). */

import { toJson } from '@nearsky/astrotables/json';
import type { Circle } from '../../core/answers/queries.ts';
import { SentNumber, type SentObject, type SentValue } from '../../core/base/json_reader.ts';
import type { Config } from '../../core/config/config.ts';
import { LISTED_STATUSES, type ListedStatus } from '../../core/contract/enums.ts';
import { type Kind, named, number, oneOf, textual } from '../../core/contract/kind.ts';
import { DECLINATION, RIGHT_ASCENSION, radiusKind } from '../../core/documents/kinds.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import { accepted } from '../../core/http/params.ts';
import { connectorSettings } from './settings.ts';
import { ToolError } from './tool_error.ts';

const DEFAULT_RADIUS_ARCSEC = 10;

/** The default radius of a position search. */
export function defaultRadiusArcsec(config: Config): number {
  return Math.min(DEFAULT_RADIUS_ARCSEC, config.API_MAX_CONE_RADIUS_ARCSEC);
}

/** @throws ToolError */
export function identifiersOf(args: SentObject, config: Config): readonly SentValue[] {
  const max = connectorSettings.of(config).MCP_MAX_IDENTIFIERS;
  const list = args.get('identifiers');
  if (Array.isArray(list) && list.length >= 1 && list.length <= max) return list;
  throw invalid('identifiers', `an array of 1 to ${max} identifiers`, list);
}

/** @throws ToolError */
export function circleOf(args: SentObject, config: Config): Circle {
  return {
    ra: numberOf(args, 'ra_deg', RIGHT_ASCENSION, ', in degrees'),
    dec: numberOf(args, 'dec_deg', DECLINATION, ', in degrees'),
    radiusArcsec: numberOf(args, 'radius_arcsec', radiusKind(config), ', in arcsec', defaultRadiusArcsec(config)),
  };
}

/**
 * The limit on an area's text. The answer repeats the area in its command for all objects, so a longer area would leave
 * no room for objects.
 */
const MAX_AREA_CHARACTERS = 2000;

export const AREA = textual(
  `a text of at most ${MAX_AREA_CHARACTERS} characters such as CIRCLE 10 -20 1`,
  text => (text.length <= MAX_AREA_CHARACTERS ? text : undefined),
  { maxLength: MAX_AREA_CHARACTERS },
);

export const hoursKind = ({ RECENT_CROSSMATCH_MAX_WINDOW_HOURS: max }: Config) =>
  number({ min: 0, max, aboveMin: true });

/** @throws ToolError */
export function hoursOf(args: SentObject, config: Config, usual: number): number {
  return numberOf(args, 'hours', hoursKind(config), '', Math.min(usual, config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS));
}

/** @throws ToolError */
export function catalogName(args: SentObject, names: readonly string[]): string | undefined {
  return (args.get('catalog') ?? null) === null ? undefined : argument(args, 'catalog', oneOf(names));
}

/** The status of the objects to list; by default, those with a catalog source. @throws ToolError */
export function listedStatus(args: SentObject): ListedStatus {
  return (args.get('status') ?? null) === null
    ? 'coincident_sources'
    : argument(args, 'status', named(LISTED_STATUSES));
}

/**
 * An ignored filter would look like one that every object meets.
 * @throws ToolError if an argument has none of the names
 */
export function refuseOthers(args: SentObject, names: readonly string[]): void {
  const other = args.keys().find(name => !names.includes(name));
  if (other === undefined) return;
  const message = `Cannot take ${nameShown(other)} because this tool has only ${names.join(', ')}: leave it out`;
  throw new ToolError('invalid_arguments', message);
}

/** The value of an argument. @throws ToolError */
export function argument<T>(args: SentObject, name: string, kind: Kind<T>, must = kind.must): T {
  const given = args.get(name);
  const value = accepted(kind, given);
  if (value === undefined) throw invalid(name, must, given);
  return value;
}

/** @param usual the default value, or null */
function numberOf(args: SentObject, name: string, kind: Kind<number>, unit: string, usual?: number): number {
  if (usual !== undefined && (args.get(name) ?? null) === null) return usual;
  return argument(args, name, kind, `${kind.must.replace('a', 'a JSON')}${unit}`);
}

function invalid(name: string, must: string, given: SentValue | undefined): ToolError {
  return new ToolError('invalid_arguments', invalidParameter(name, must, shown(given)).message);
}

/** Longer texts are not shown; messages give their length instead. */
const LONG_TEXT = 64;

function nameShown(name: string): string {
  return name.length > LONG_TEXT ? `an argument whose name has ${name.length} characters` : name;
}

function shown(value: SentValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value instanceof SentNumber) return value.text;
  if (value instanceof Map) return 'an object';
  if (Array.isArray(value)) return `an array of ${value.length} elements`;
  return typeof value === 'string' && value.length > LONG_TEXT ? `${value.length} characters` : toJson(value);
}
