/** The arguments of the tools (docs/contract.md, Connector). */
import type { Circle } from '../answers/queries.ts';
import { toJson } from '../base/json_text.ts';
import type { Config } from '../config/config.ts';
import { DEC_RANGE, RA_RANGE } from '../contract/limits.ts';
import { invalidParameter } from '../http/errors.ts';
import { JsonNumber, type JsonObject, type JsonValue } from '../http/json_body.ts';
import { ToolError } from './tool_error.ts';

const DEFAULT_RADIUS_ARCSEC = 10;

/** The radius of a position search that names none. */
export function defaultRadiusArcsec(config: Config): number {
  return Math.min(DEFAULT_RADIUS_ARCSEC, config.API_MAX_CONE_RADIUS_ARCSEC);
}

/** @throws ToolError */
export function identifiersOf(args: JsonObject, { MCP_MAX_IDENTIFIERS: max }: Config): readonly JsonValue[] {
  const list = args.get('identifiers');
  const isList = Array.isArray(list);
  if (isList && list.length >= 1 && list.length <= max) return list;
  const current = isList ? `${list.length} elements` : shown(list);
  throw invalid('identifiers', `an array of 1 to ${max} identifiers`, current);
}

/** @throws ToolError */
export function circleOf(args: JsonObject, config: Config): Circle {
  const max = config.API_MAX_CONE_RADIUS_ARCSEC;
  const radius = args.get('radius_arcsec') ?? null;
  return {
    ra: numberOf(args, 'ra_deg', RA_RANGE),
    dec: numberOf(args, 'dec_deg', DEC_RANGE),
    radiusArcsec: radius === null ? defaultRadiusArcsec(config) : radiusOf(radius, max),
  };
}

/** A longer area would leave no room for objects, because the answer repeats it in the command for all of them. */
export const MAX_AREA_CHARACTERS = 2000;

/** @throws ToolError */
export function areaText(args: JsonObject): string {
  const area = args.get('area');
  if (typeof area === 'string' && area.length <= MAX_AREA_CHARACTERS) return area;
  const current = typeof area === 'string' ? `${area.length} characters` : shown(area);
  throw invalid('area', `a text of at most ${MAX_AREA_CHARACTERS} characters such as CIRCLE 10 -20 1`, current);
}

/** @throws ToolError */
export function hoursOf(args: JsonObject, { RECENT_CROSSMATCH_MAX_WINDOW_HOURS: max }: Config, usual: number): number {
  const hours = args.get('hours') ?? null;
  if (hours === null) return Math.min(usual, max);
  if (hours instanceof JsonNumber && hours.value > 0 && hours.value <= max) return hours.value;
  throw invalid('hours', `a JSON number above 0 and at most ${max}`, shown(hours));
}

/** @throws ToolError */
export function catalogName(args: JsonObject, names: readonly string[]): string | undefined {
  const name = args.get('catalog') ?? null;
  if (name === null) return undefined;
  if (typeof name === 'string' && names.includes(name)) return name;
  throw invalid('catalog', `one of ${names.join(', ')}`, shown(name));
}

function numberOf(
  args: JsonObject,
  name: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = args.get(name);
  if (value instanceof JsonNumber && value.value >= min && value.value <= max) return value.value;
  throw invalid(name, `a JSON number from ${min} to ${max}, in degrees`, shown(value));
}

function radiusOf(value: JsonValue, max: number): number {
  if (value instanceof JsonNumber && value.value > 0 && value.value <= max) return value.value;
  throw invalid('radius_arcsec', `a JSON number above 0 and at most ${max}, in arcsec`, shown(value));
}

function invalid(name: string, must: string, current: string): ToolError {
  return new ToolError('invalid_arguments', invalidParameter(name, must, current).message);
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value instanceof JsonNumber) return value.text;
  if (value instanceof Map) return 'an object';
  return Array.isArray(value) ? 'an array' : toJson(value);
}
