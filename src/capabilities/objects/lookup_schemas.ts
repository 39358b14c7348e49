/** Schemas of operations with the format of a lookup: inputs, results, answers, filters, counts. */

import type { Config } from '../../core/config/config.ts';
import { requestLimits } from '../../core/config/described_limits.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import {
  DEFAULT_DETAIL,
  DEFAULT_RESPONSE,
  INPUT_KINDS,
  INPUT_STATUSES,
  type InputKind,
  type InputStatus,
  namesOf,
  OBJECT_REASONS,
  OBJECT_STATUSES,
  TRUNCATIONS,
} from '../../core/contract/enums.ts';
import { radiusKind } from '../../core/documents/kinds.ts';
import { filterSchema, kindSchema, schemaOf } from '../../core/documents/openapi/parameters.ts';
import {
  always,
  boolean,
  closed,
  constant,
  count,
  each,
  integer,
  list,
  narrowed,
  oneOfNames,
  orNull,
  ref,
  type Schema,
  type Schemas,
  text,
  time,
} from '../../core/documents/openapi/schema.ts';
import { AT, DETAIL, RESPONSE, TNS_NAME } from '../../core/documents/parameters.ts';
import { declination, rightAscension } from './common_schemas.ts';
import { provenanceSets, QUALIFICATION_KEYS, qualification } from './object_schemas.ts';

// Client generators take class names from titles. Without titles, there would be two classes for ConeSearchResponse.
export const detailLevel = schemaOf(DETAIL);
const responseMode = schemaOf(RESPONSE);
export const pageSize = integer('count', 'Maximum number of objects on this page.', { minimum: 1 });
export const nextCursor = orNull(
  text(
    'The cursor of the next page; null on the last page. It fixes the set of objects of the walk, not their state: status and coincident sources can ' +
      'advance between pages.',
  ),
);
const tnsName = schemaOf(TNS_NAME);

/** @param description what is searched within the radius */
function searchRadius(config: Config, description: string): Schema {
  return kindSchema(radiusKind(config), description);
}

export function lookupSchemas(config: Config, catalogs: Catalogs) {
  const filters = [...catalogs.filters.values()];
  return {
    ...inputSchemas(config),
    LookupRequest: lookupRequest(config),
    ...resultSchemas(config),
    LookupResponse: closed('The answer to a lookup: one result per input, in the order of the inputs.', lookupKeys, [
      'filters',
    ]),
    ConeSearchResponse: coneSearchResponse,
    Filters: closed(
      'Filters by name: a number each, except `catalog`.',
      Object.fromEntries(filters.map(filter => [filter.name, filterSchema(filter, catalogs)])),
      namesOf(filters),
    ),
    CountResponse: countResponse,
  };
}

function kind(name: InputKind): Schema {
  return constant(name, INPUT_KINDS.find(known => known.name === name)!.meaning);
}

function inputSchemas(config: Config) {
  return {
    IdInput: closed('An object by its identifier.', {
      kind: kind('id'),
      diaObjectId: {
        anyOf: [ref('DiaObjectId'), ref('DiaObjectIdStr')],
        description: 'An integer literal (not `1.0`) or a decimal string.',
      },
    }),
    PositionInput: closed(
      'Every object within a radius of a position.',
      {
        kind: kind('position'),
        ra: rightAscension,
        dec: declination,
        radius_arcsec: searchRadius(config, "Required unless the request's own `radius_arcsec` is given."),
      },
      ['radius_arcsec'],
    ),
    TnsInput: closed(
      "Every object within a radius of a registry name's position.",
      {
        kind: kind('tns'),
        name: tnsName,
        radius_arcsec: orNull(
          searchRadius(
            config,
            `The default is the request's own \`radius_arcsec\`, or else ${config.TNS_MATCH_RADIUS_ARCSEC}.`,
          ),
        ),
      },
      ['radius_arcsec'],
    ),
    LookupInput: {
      oneOf: [ref('IdInput'), ref('PositionInput'), ref('TnsInput')],
      description: 'One thing to look up.',
    },
  };
}

function lookupRequest(config: Config): Schema {
  const { max_ids, max_positions } = requestLimits(config);
  return closed(
    'A lookup. A malformed input yields `invalid_input` in its own result and does not affect the others.',
    {
      inputs: list(
        ref('LookupInput'),
        `At most ${max_ids} of kind \`id\`, and ${max_positions} of the kinds \`position\` and \`tns\` together.`,
        { minItems: 1, maxItems: max_ids + max_positions },
      ),
      detail: { ...orNull(detailLevel), default: DEFAULT_DETAIL },
      radius_arcsec: orNull(searchRadius(config, 'Default for positions and names.')),
      filters: { ...orNull(ref('Filters')), description: 'Filters by which objects and results are marked.' },
      response: { ...orNull(responseMode), default: DEFAULT_RESPONSE },
      at: orNull(kindSchema(AT.kind, `${AT.description} Not with names.`)),
    },
    ['detail', 'radius_arcsec', 'filters', 'response', 'at'],
  );
}

const resultIndex = integer('index', 'Position of the input in the request, from 0.', { minimum: 0 });
const input = {
  description: 'The input exactly as sent: for a lookup, the JSON value; otherwise the text in the request.',
};
const error = closed('What is wrong with the input.', {
  message: text('A description of the problem and the remedy, for people.'),
  param: text('Path of the invalid field, such as `inputs[3].ra`.'),
});
const objects = list(ref('LookupObject'), 'Objects by ingest time, then identifier.');
const total = count('Objects within the radius, whether listed or not.');
const qualifyingTotal = count('Objects within the radius that meet the filters; only if the request has filters.');

function truncationKeys(): Schemas {
  return {
    truncated: boolean('Whether `objects` has fewer than `total`.'),
    truncation: orNull(oneOfNames(TRUNCATIONS, 'Why `objects` is truncated; null if it is not.')),
  };
}

function statusAmong(...names: InputStatus[]): Schema {
  const among = INPUT_STATUSES.filter(({ name }) => names.includes(name));
  return narrowed('InputStatus', oneOfNames(among, 'Status of the input.'));
}

/**
 * The schema of the result of an input.
 * @param understood the input's own keys in `normalized`
 * @param own the result's own keys
 */
function result(description: string, name: InputKind, understood: Schemas, own: Schemas): Schema {
  return closed(
    description,
    {
      index: resultIndex,
      kind: kind(name),
      input,
      normalized: closed('The input as understood.', { kind: kind(name), ...understood }),
      ...own,
      ...qualification,
    },
    ['qualifying_total', ...QUALIFICATION_KEYS].filter(key => key in own || key in qualification),
  );
}

function resultSchemas(config: Config) {
  return {
    IdResult: result(
      'The result of an identifier.',
      'id',
      { diaObjectId: ref('DiaObjectId'), diaObjectId_str: ref('DiaObjectIdStr') },
      {
        status: ref('ObjectStatus'),
        objects: list(ref('LookupObject'), 'The object.', { minItems: 1, maxItems: 1 }),
      },
    ),
    PositionResult: result(
      'The result of a position.',
      'position',
      { ra: rightAscension, dec: declination, radius_arcsec: searchRadius(config, 'Radius of the search.') },
      {
        status: statusAmong('no_rubin_object', 'objects_found'),
        objects,
        total,
        ...truncationKeys(),
        qualifying_total: qualifyingTotal,
      },
    ),
    TnsResult: result(
      'The result of a registry name.',
      'tns',
      {
        name: text('The bare name, lowercased.'),
        radius_arcsec: searchRadius(config, "Radius of the search around the name's position."),
      },
      {
        status: statusAmong('no_rubin_object', 'objects_found', 'tns_name_not_found', 'resolver_unavailable'),
        objects,
        total: { ...orNull(total), description: 'Objects within the radius; null if there was no search.' },
        ...truncationKeys(),
        tns: orNull(ref('TnsRecord')),
        tns_snapshot_epoch: orNull(time('Epoch of the current registry snapshot; null if there is none.')),
        qualifying_total: orNull(qualifyingTotal),
      },
    ),
    InvalidInputResult: invalidInputResult,
    LookupResult: {
      oneOf: [ref('IdResult'), ref('PositionResult'), ref('TnsResult'), ref('InvalidInputResult')],
      description: 'The result of one input.',
    },
  };
}

const invalidInput = INPUT_STATUSES.find(({ name }) => name === 'invalid_input')!.meaning;
const invalidInputResult = closed(
  'The result of a malformed input.',
  {
    index: resultIndex,
    kind: orNull(text('The kind as sent; null if it is not a string.')),
    input,
    normalized: always(null, 'Nothing was understood.'),
    status: narrowed('InputStatus', constant('invalid_input', invalidInput)),
    objects: list(ref('LookupObject'), 'None.', { maxItems: 0 }),
    error,
    // This is not a constant, because a generator of Python clients writes broken code for optional constants.
    qualifies: boolean('Never true; only if the request has filters.', { not: { const: true } }),
    qualifies_reason: narrowed('QualifiesReason', constant('invalid_input', invalidInput)),
  },
  QUALIFICATION_KEYS,
);

const lookupKeys: Schemas = {
  provenance: ref('Provenance'),
  detail: detailLevel,
  count: count('The number of results, which equals the number of inputs.'),
  provenance_sets: provenanceSets,
  truncated: boolean('Whether the limit on objects per request truncated a result.'),
  results: list(ref('LookupResult'), 'One result per input, in the order of the inputs.', { minItems: 1 }),
  filters: ref('Filters'),
};

const { filters: filtersKey, ...beforeFilters } = lookupKeys;
const coneSearchResponse = closed(
  'One page of the objects within a radius.',
  {
    ...beforeFilters,
    count: count('One result.', { const: 1 }),
    truncated: always(false, 'Always false, because pages are not truncated.'),
    results: list(ref('PositionResult'), 'The one result; its `objects` are those of this page.', {
      minItems: 1,
      maxItems: 1,
    }),
    as_of: time('Time of the first page. The walk contains objects ingested up to this time.'),
    page_size: pageSize,
    next_cursor: nextCursor,
    filters: filtersKey!,
  },
  ['filters'],
);

/** A count per name. A name without an entry has the count zero. */
function countsBy(names: readonly string[], description: string): Schema {
  return closed(
    description,
    each(names, () => count('The count for this name.')),
  );
}

const objectStatusNames = namesOf(OBJECT_STATUSES);
const qualifying = orNull(count('The number that meets the filters; null without filters.'));
const countResponse = closed('Counts for the inputs and filters of a request; limits on listing do not apply.', {
  provenance: ref('Provenance'),
  response: constant('count', 'The response mode.'),
  filters: orNull(ref('Filters')),
  counts: closed('The counts.', {
    inputs: closed('Counts of the inputs, including duplicates.', {
      total: count('Inputs.'),
      by_status: countsBy([...objectStatusNames, ...namesOf(INPUT_STATUSES)], 'Inputs by the status of their result.'),
      qualifying,
    }),
    objects: closed('Counts of the distinct objects, including objects that are not in the service.', {
      total: count('Objects.'),
      by_status: countsBy(objectStatusNames, 'Objects by status.'),
      qualifying,
      by_qualifies_reason: orNull(countsBy(OBJECT_REASONS, 'Objects by reason; null without filters.')),
    }),
  }),
});
