/** Objects as an assistant gets them, and notes that explain their values (docs/contract.md, Connector). */

import { brokerSetting, pagedBrokers } from '../../core/contract/brokers.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import {
  BEST_GUESS,
  INPUT_STATUSES,
  type Named,
  OBJECT_STATUSES,
  PROVENANCE_BASES,
} from '../../core/contract/enums.ts';
import type { Service } from '../../core/service/service.ts';
import { answerText } from './answer_text.ts';
import type { ApiMatch, ApiObject, ApiObjectTns, UnknownObject } from './answers.ts';
import { connectorSettings } from './settings.ts';

/**
 * Keys as on the wire.
 * @param nameUrl the address of the registry's page about the name that found the object
 */
export function summaryOf(
  object: ApiObject | UnknownObject,
  { config, catalogs }: Pick<Service, 'config' | 'catalogs'>,
  nameUrl: string | null = null,
) {
  const { diaObjectId_str: diaObjectId, status } = object;
  if (object.status === 'not_in_service') return { diaObjectId, status };
  const { separation_arcsec, ra, dec, brokers, crossmatch, tns } = object;
  return {
    diaObjectId,
    status,
    separation_arcsec,
    ra,
    dec,
    brokers,
    provenance: crossmatch && (crossmatch.provenance === 'recorded' ? 'recorded' : BEST_GUESS),
    tns_association: crossmatch ? associationOf(tns) : undefined,
    coincident_sources: coincidentSources(
      object.matches,
      catalogs,
      connectorSettings.of(config).MCP_MATCHES_PER_CATALOG,
    ),
    links: {
      tns: tns?.url ?? nameUrl,
      ...Object.fromEntries(
        pagedBrokers.map(({ name }) => {
          const template = config[brokerSetting(name, 'OBJECT_URL_TEMPLATE')];
          return [name, template.replace('{diaObjectId}', diaObjectId)];
        }),
      ),
    },
  };
}

export type Summary = ReturnType<typeof summaryOf>;

function associationOf(tns: ApiObjectTns | null) {
  if (!tns?.checked) return { state: 'not_checked' as const };
  const { name, name_prefix, classification, redshift, separation_arcsec, snapshot_epoch } = tns;
  if (name === null) return { state: 'none_within_radius' as const, snapshot_epoch };
  return { state: 'matched' as const, name, name_prefix, classification, redshift, separation_arcsec, snapshot_epoch };
}

const nearness = (match: ApiMatch) => match.separation_at_epoch_arcsec ?? match.separation_arcsec;

/** The sources of the current catalogs, in the order of the catalogs. The sources of former catalogs follow. */
function coincidentSources(matches: readonly ApiMatch[], catalogs: Catalogs, maxNearest: number) {
  const names = [...catalogs.all.map(({ name }) => name), ...matches.map(match => match.catalog_name)];
  return [...new Set(names)].flatMap(name => {
    const ofCatalog = matches.filter(match => match.catalog_name === name);
    if (ofCatalog.length === 0) return [];
    const chatKeys = catalogs.get(name)?.chatKeys ?? [];
    const nearest = ofCatalog
      .toSorted((a, b) => nearness(a) - nearness(b))
      .slice(0, maxNearest)
      .map(match => ({
        source_id: match.catalog_source_id,
        separation_arcsec: match.separation_arcsec,
        separation_at_epoch_arcsec: match.separation_at_epoch_arcsec,
        chance_probability: match.statistics?.chance_probability,
        match_probability: match.statistics?.match_probability,
        any_match_probability: match.statistics?.any_match_probability,
        catalog_release: match.catalog_release,
        values: Object.fromEntries(chatKeys.map(key => [key, match.catalog_payload?.[key] ?? null])),
      }));
    return [{ catalog: name, count: ofCatalog.length, nearest, more: ofCatalog.length - nearest.length }];
  });
}

/** Statuses of an identifier that occur only in the connector. */
export const IDENTIFIER_STATUSES = [
  { name: 'unrecognized_identifier', meaning: 'neither a diaObjectId nor a TNS name; it was not looked up' },
  {
    name: 'identifier_precision_lost',
    meaning: 'a number that is too large to keep all its digits in JSON; it was not looked up',
  },
] as const satisfies readonly Named[];

const STATUSES: readonly Named[] = [...OBJECT_STATUSES, ...INPUT_STATUSES, ...IDENTIFIER_STATUSES];

const ASSOCIATION_STATES: readonly Named[] = [
  { name: 'matched', meaning: 'a TNS object lay within the radius at crossmatch time' },
  {
    name: 'none_within_radius',
    meaning: 'the TNS snapshot was searched at crossmatch time; there was nothing within the radius',
  },
  { name: 'not_checked', meaning: 'the TNS was not searched at crossmatch time; this says nothing about the TNS' },
];

/** Explains the values that the answer contains, and only those. */
export function notesOf(summaries: readonly Summary[], statuses: readonly string[]) {
  const shown = (values: readonly unknown[], meanings: readonly Named[]) =>
    Object.fromEntries(meanings.flatMap(({ name, meaning }) => (values.includes(name) ? [[name, meaning]] : [])));
  return {
    status_meanings: shown([...statuses, ...summaries.map(({ status }) => status)], STATUSES),
    provenance_notes: shown(
      summaries.map(({ provenance }) => provenance),
      PROVENANCE_BASES,
    ),
    tns_notes: shown(
      summaries.map(({ tns_association }) => tns_association?.state),
      ASSOCIATION_STATES,
    ),
  };
}

/**
 * The text of an answer: `head`, then the objects. The last objects are omitted if they do not fit.
 * @param statuses further statuses that the answer contains
 * @param hasMore whether there are more objects than these
 * @param fullResults how to get all of them, given how many are shown
 */
export function listingText(
  service: Pick<Service, 'config' | 'catalogs'>,
  head: Readonly<Record<string, unknown>>,
  objects: readonly ApiObject[],
  statuses: readonly string[],
  hasMore: boolean,
  fullResults: (shown: number) => Readonly<Record<string, string>>,
): string {
  const summaries = objects.map(object => summaryOf(object, service));
  const reasons = hasMore ? ['chat_object_limit'] : [];
  for (;;) {
    const truncated = reasons.length > 0;
    const answer = {
      ...head,
      objects_returned: summaries.length,
      truncated,
      truncation: truncated ? { reasons, full_results: fullResults(summaries.length) } : undefined,
      objects: summaries,
      ...notesOf(summaries, statuses),
    };
    const text = answerText(answer);
    if (text.length <= connectorSettings.of(service.config).MCP_MAX_RESULT_CHARS || summaries.length === 0) return text;
    summaries.pop();
    if (!reasons.includes('chat_size_limit')) reasons.push('chat_size_limit');
  }
}

/** The message of a search that found nothing. */
export function noObjectWithin(radiusArcsec: number, where: string): string {
  return `No object in the service lies within ${radiusArcsec} arcsec of ${where}.`;
}

export function meaningOf(status: string): string {
  return STATUSES.find(({ name }) => name === status)!.meaning;
}
