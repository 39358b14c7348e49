/** Writes an event in words, with the nearest source and its verdict first. */
import { escapeXml } from '@nearsky/astrotables';
import { parseJson } from '@nearsky/astrotables/json';
import type { CatalogDefinition } from '../../core/contract/catalog.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { verdictOf } from '../../core/contract/verdict.js';
import { REMOVED_VERSION, STORED_VERSION } from '../../core/store/types.ts';
import { separationText } from '../objects/near_words.js';
import type { EventKind } from '../streams/event_test.ts';
import type { MatchMessage } from '../streams/message.ts';

/** A match in the data of an event. */
interface Match {
  readonly catalog_name: string;
  readonly catalog_source_id: string;
  readonly catalog_release: string | null;
  readonly separation_arcsec: number;
  readonly separation_at_epoch_arcsec?: number;
  readonly statistics?: { readonly chance_probability?: number };
  readonly catalog_payload: Readonly<Record<string, unknown>> | null;
  readonly catalogs_skipped: readonly string[];
  readonly tns?: Registered;
}

interface Registered {
  readonly name?: string | null;
  readonly classification?: string | null;
}

interface Change {
  readonly status: string;
  readonly reliability: number | null;
  readonly event_time: string | null;
  readonly catalog_outcomes: Readonly<Record<string, string>> | null;
  readonly tns: Registered | null;
  readonly matches: readonly Match[];
}

export interface EventWords {
  readonly title: string;
  /** HTML. */
  readonly content: string;
  /** The verdict on the nearest source, or the status. */
  readonly category: string;
}

const NO_SOURCE: Readonly<Record<string, string>> = {
  no_coincident_source: 'no catalog source',
  not_searched: 'no catalog was searched',
};

export function wordsOf(stream: EventKind, message: MatchMessage, catalogs: Catalogs): EventWords {
  const data = parseJson(Buffer.from(message.value).toString()) as Match | Change;
  const change = stream === 'matches' ? undefined : (data as Change);
  const matches = (change ? change.matches : [data as Match]).toSorted((a, b) => separationOf(a) - separationOf(b));
  const sources = matches.map(match => ({ match, ...judged(match, catalogs) }));
  const [nearest] = sources;
  const tns = change ? change.tns : (data as Match).tns;
  const subject = `${message.diaObjectId}${tns?.name ? ` (TNS ${tns.name})` : ''}`;
  const more = sources.length > 1 ? ` and ${sources.length - 1} more` : '';
  const found = nearest ? `${nearest.words}${more}` : NO_SOURCE[change!.status];
  const title = `${subject}: ${[found, changeWords(stream, message)].filter(each => each !== undefined).join(', ')}`;
  const category = nearest?.verdict ?? change!.status;
  return { title, content: contentOf(message, change, sources, tns), category };
}

function changeWords(stream: EventKind, { matchVersion }: MatchMessage): string {
  if (matchVersion === STORED_VERSION) return 'new object, not yet searched';
  if (matchVersion === REMOVED_VERSION) return 'removed from this service';
  const again = matchVersion > 1 ? ' again' : '';
  return stream === 'matches' ? (again ? 'matched again' : 'new match') : `crossmatched${again}`;
}

const separationOf = ({ separation_arcsec, separation_at_epoch_arcsec = separation_arcsec }: Match) =>
  separation_at_epoch_arcsec;

function judged(match: Match, catalogs: Catalogs) {
  const { catalog_name: name, catalog_release, catalog_payload } = match;
  const definition: CatalogDefinition | undefined = catalogs.get(name);
  const judgement = verdictOf(definition ?? { name }, catalog_payload);
  const kind = judgement.verdict === 'unclear' ? 'unclear source' : judgement.verdict;
  return { ...judgement, words: `${kind} at ${separationText(separationOf(match))}″ in ${catalog_release ?? name}` };
}

function contentOf(
  { position }: MatchMessage,
  change: Change | undefined,
  sources: readonly { readonly match: Match; readonly words: string; readonly reason: string }[],
  tns: Registered | null | undefined,
): string {
  const about = [
    position ? `RA ${position.ra.toFixed(6)}, Dec ${position.dec.toFixed(6)} (ICRS)` : 'no position',
    ...(change?.reliability == null ? [] : [`reliability ${change.reliability}`]),
    ...(change?.event_time ? [`alert of ${change.event_time}`] : []),
    ...(tns?.name ? [`TNS ${[tns.name, tns.classification].filter(each => each != null).join(', ')}`] : []),
  ];
  const items = sources.map(({ match, words, reason }) => {
    const { catalog_source_id: id, statistics } = match;
    const chance = statistics?.chance_probability;
    const worth = chance === undefined ? '' : `; by chance with a probability of ${Number(chance.toPrecision(2))}`;
    return `<li>${escapeXml(`${words}: source ${id}; ${reason}${worth}`)}</li>`;
  });
  const list = items.length > 0 ? `<ul>${items.join('')}</ul>` : '';
  return `<p>${escapeXml(about.join('; '))}</p>${list}${outcomesOf(change, sources[0]?.match)}`;
}

/** The outcomes of the catalogs. */
function outcomesOf(change: Change | undefined, match: Match | undefined): string {
  const outcomes: readonly (readonly [name: string, outcome: string])[] = change
    ? Object.entries(change.catalog_outcomes ?? {})
    : (match?.catalogs_skipped ?? []).map(name => [name, 'skipped_read_failure']);
  if (outcomes.length === 0) return '';
  const groups = [...Map.groupBy(outcomes, ([, outcome]) => outcome)];
  const texts = groups.map(
    ([outcome, some]) => `${outcome.replaceAll('_', ' ')}: ${some.map(([name]) => name).join(', ')}`,
  );
  return `<p>${escapeXml(texts.join('; '))}</p>`;
}
