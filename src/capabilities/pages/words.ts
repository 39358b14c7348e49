/** Short, plain names of the API's values for the pages. `src/core/contract/enums.ts` has their full meanings. */
import {
  CATALOG_OUTCOMES,
  type CutStatus,
  INPUT_STATUSES,
  NEARBY_OUTCOMES,
  OBJECT_STATUSES,
} from '../../core/contract/enums.ts';

export const CUT_WORDS: Readonly<Record<CutStatus, string>> = {
  service_setting: 'A setting of this service',
  declared: 'Declared for the broker',
  not_declared: 'Not declared',
};

/** The word for each value, and a sentence with its meaning. */
export type Words = Readonly<Record<string, { readonly word: string; readonly meaning: string }>>;

const wordsOf = <T extends string>(
  list: readonly { readonly name: T; readonly meaning: string }[],
  words: Readonly<Record<T, string>>,
): Words =>
  Object.fromEntries(list.map(({ name, meaning }) => [name, { word: words[name], meaning: sentence(meaning) }]));

const RESOLVER_UNAVAILABLE = 'TNS names cannot be looked up now';

export const STATUS_WORDS: Words = {
  ...wordsOf(OBJECT_STATUSES, {
    not_in_service: 'Not in this service',
    crossmatch_pending: 'Not yet searched',
    coincident_sources: 'Catalog source here',
    no_coincident_source: 'No catalog source here',
    not_searched: 'Not searched',
  }),
  ...wordsOf(INPUT_STATUSES, {
    no_rubin_object: 'No Rubin object here',
    objects_found: 'Rubin objects found',
    tns_name_not_found: 'Name not in TNS',
    resolver_unavailable: RESOLVER_UNAVAILABLE,
    invalid_input: 'Not understood',
  }),
  // Not the API's meaning, which is about the inputs of a list.
  resolver_unavailable: {
    word: RESOLVER_UNAVAILABLE,
    meaning: 'This service has no current copy of TNS. Ids and positions are searched as always.',
  },
};
export const CATALOG_WORDS = wordsOf([...CATALOG_OUTCOMES, ...NEARBY_OUTCOMES.slice(-1)], {
  searched: 'Searched',
  outside_footprint: 'Outside its footprint',
  skipped_read_failure: 'Skipped: it could not be read',
  not_searched_invalid_position: 'Not searched: invalid position',
  not_recorded: 'Not recorded',
  not_in_service_at_crossmatch: 'Not in service at the crossmatch',
  not_registered: 'Not registered here',
});

export function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}
