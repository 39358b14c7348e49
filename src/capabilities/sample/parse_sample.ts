/** Reads the body of a request for a report (docs/contract.md, Sample). */
import { toJson } from '@nearsky/astrotables/json';
import { shorten } from '../../core/base/error_text.ts';
import type { SentValue } from '../../core/base/json_reader.ts';
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { type Kind, number, textual } from '../../core/contract/kind.ts';
import type { RaUnit } from '../../core/contract/table_match.ts';
import { JOURNAL_ENTRY, radiusKind, upTo } from '../../core/documents/kinds.ts';
import { requestedState } from '../../core/http/cursor.ts';
import { invalidParameter } from '../../core/http/errors.ts';
import { fieldOf } from '../../core/http/params.ts';
import { parseInput } from '../objects/lookup_input.ts';
import { inputsRequest, namesHaveNoHistory } from '../objects/lookup_request.ts';
import {
  DEFAULT_BRIGHT_ARCSEC,
  DEFAULT_BRIGHT_MAG,
  MAX_BRIGHT_ARCSEC,
  MAX_LABEL,
  MAX_SAMPLE_ROWS,
  MAX_TITLE,
} from './limits.ts';
import type { SampleOptions } from './options.ts';
import { SAMPLE_QUERY, type SampleInput, type SampleQuery } from './resolve.ts';

const FIELDS = ['inputs', 'radius_arcsec', 'catalogs', 'bright_mag', 'bright_radius_arcsec', 'at', 'since'];

export const BRIGHT_MAG = number({ min: -5, max: 25, unit: 'mag' });
export const BRIGHT_ARCSEC = upTo(MAX_BRIGHT_ARCSEC, 'arcsec');
const LABEL = textual(`a text of at most ${MAX_LABEL} characters`, text =>
  text.length <= MAX_LABEL ? text : undefined,
);

export const TITLE = textual(`a text of 1 to ${MAX_TITLE} characters`, text =>
  text.length >= 1 && text.length <= MAX_TITLE && text.isWellFormed() ? text : undefined,
);

/**
 * @param over replaces `at` and `since` of the body, and has the unit of right ascensions
 * @throws ApiError
 */
export function parseSample(
  body: SentValue,
  config: Config,
  catalogs: Catalogs,
  over: {
    readonly at?: number | undefined;
    readonly since?: number | undefined;
    readonly raUnit?: RaUnit | undefined;
  } = {},
): { readonly query: SampleQuery; readonly earlier: SampleQuery | undefined; readonly options: SampleOptions } {
  const request = inputsRequest(body, 'report', FIELDS);
  const read = <T>(name: string, kind: Kind<T>): T | undefined => {
    const value = request.get(name) ?? null;
    return value === null ? undefined : fieldOf(kind, name, value);
  };
  const radius = read('radius_arcsec', radiusKind(config));
  const options = {
    catalogs: catalogsOf(request.get('catalogs') ?? null, catalogs),
    radiusArcsec: config.CROSSMATCH_RADIUS_ARCSEC,
    brightMag: read('bright_mag', BRIGHT_MAG) ?? DEFAULT_BRIGHT_MAG,
    brightArcsec: read('bright_radius_arcsec', BRIGHT_ARCSEC) ?? DEFAULT_BRIGHT_ARCSEC,
  };
  const at = over.at ?? read('at', JOURNAL_ENTRY);
  const since = over.since ?? read('since', JOURNAL_ENTRY);
  const inputs = inputsOf(request.get('inputs')!, radius, config, over.raUnit);
  const hasName = inputs.some(({ input }) => input.kind === 'tns');
  for (const [param, entry] of Object.entries({ at, since }))
    if (entry !== undefined && hasName) throw namesHaveNoHistory(param);
  const query = { kind: SAMPLE_QUERY, inputs, found: [], state: hasName ? undefined : requestedState(at) };
  const earlier =
    since === undefined ? undefined : { kind: SAMPLE_QUERY, inputs, found: [], state: requestedState(since) };
  return { query, earlier, options };
}

function catalogsOf(value: SentValue, catalogs: Catalogs): readonly string[] {
  const names = catalogs.all.map(({ name }) => name);
  if (value === null) return registeredNames(catalogs);
  const must = `a JSON array of at least one of ${names.join(', ')}`;
  if (!Array.isArray(value) || value.length === 0) throw invalidParameter('catalogs', must, toJson(value));
  const wrong = value.find(name => !names.includes(name as string));
  if (wrong !== undefined) throw invalidParameter('catalogs', must, shorten(toJson(wrong)));
  return names.filter(name => value.includes(name));
}

/** The catalogs of a report by default. */
export function registeredNames({ all, footprintOrders }: Catalogs): string[] {
  return all.flatMap(({ name }) => (footprintOrders?.has(name) ? [name] : []));
}

function inputsOf(
  value: SentValue,
  sharedArcsec: number | undefined,
  config: Config,
  raUnit: RaUnit | undefined,
): SampleInput[] {
  const must = `a JSON array of 1 to ${MAX_SAMPLE_ROWS} inputs`;
  if (!Array.isArray(value)) throw invalidParameter('inputs', must, toJson(value));
  if (value.length === 0 || value.length > MAX_SAMPLE_ROWS)
    throw invalidParameter('inputs', must, `${value.length} inputs`);
  return value.map((entry, index): SampleInput => {
    if (!(entry instanceof Map)) return { input: parseInput(entry, index, sharedArcsec, config, raUnit), label: null };
    const { label = null, ...fields } = Object.fromEntries(entry) as Record<string, SentValue>;
    // Without a radius, the object of a position is the nearest one within the radius of matches.
    const radius = sharedArcsec ?? (fields.kind === 'tns' ? undefined : config.CROSSMATCH_RADIUS_ARCSEC);
    const input = parseInput(new Map(Object.entries(fields)), index, radius, config, raUnit);
    const known = label === null ? null : LABEL.parse(label);
    if (known !== undefined) return { input, label: known };
    const message = `inputs[${index}].label must be ${LABEL.must} (${shorten(toJson(label))} was given)`;
    const error = { message, param: `inputs[${index}].label` };
    return { input: { kind: 'invalid', sent: input.sent, sentKind: 'null', error }, label: null };
  });
}
