/** Schemas of an object and its parts: crossmatch, matches, registry association. */
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { BEST_GUESS, PROVENANCE_BASES, PROVENANCE_STATES } from '../../core/contract/enums.ts';
import {
  CROSSMATCH_FIELDS,
  MATCH_FIELDS,
  OBJECT_FIELDS,
  type ObjectField,
  RELEASE_FIELDS,
  TNS_FIELDS,
  WORTH_FIELDS,
  WORTH_KEYS,
} from '../../core/contract/object_fields.ts';
import { epochs, sourceIdMeaning } from '../../core/documents/catalogs.ts';
import {
  always,
  boolean,
  closed,
  constant,
  fieldSchema,
  fieldSchemas,
  integer,
  list,
  map,
  oneOfNames,
  open,
  orNull,
  ref,
  type Schema,
  type Schemas,
  text,
  time,
} from '../../core/documents/openapi/schema.ts';
import {
  catalogReleases,
  crossmatchRadius,
  declination,
  reliabilityCuts,
  rightAscension,
  separation,
} from './common_schemas.ts';

const objid = integer('identifier', "The registry's own identifier.", { minimum: 0 });
const { checked, ...rest } = fieldSchemas(TNS_FIELDS) as Record<keyof typeof TNS_FIELDS, Schema>;
const { name_prefix, classification, redshift, separation_arcsec } = rest;
const setKey = orNull(text('Key of the entry in `provenance_sets` with the settings under which it was found.'));
const snapshotEpoch = orNull(time('Epoch of the registry snapshot.'));

const COINCIDENT_SOURCE =
  'A coincident source: the nearest of its catalog within the crossmatch radius, so there is at most one per catalog. It is not a host ' +
  'association.';

/** A property that a match only has if its source has a proper motion. */
export const SEPARATION_AT_EPOCH = 'separation_at_epoch_arcsec' satisfies keyof typeof MATCH_FIELDS;

/** The statistics in a match: the known ones. */
const statistics = closed(
  'How likely the match is by chance. Has only known values, and is missing if none is known.',
  fieldSchemas(
    Object.fromEntries(Object.entries(WORTH_FIELDS).map(([key, field]) => [key, { ...field, isNullable: false }])),
  ),
  WORTH_KEYS,
);

export function sourceIdentity({ all }: Catalogs): Schemas {
  const form = all.some(({ idType }) => idType === 'text') ? 'decimal or a text' : 'decimal';
  const ids = `Identifier of the source, ${form}. An id is unique only within one \`catalog_name\`. `;
  return {
    catalog_name: text('Name of the catalog.'),
    catalog_source_id: text(ids + all.map(sourceIdMeaning).join(' ')),
    separation_arcsec: fieldSchema(MATCH_FIELDS.separation_arcsec),
  };
}

export const separationAtEpoch: Schemas = { [SEPARATION_AT_EPOCH]: fieldSchema(MATCH_FIELDS[SEPARATION_AT_EPOCH]) };
const release = fieldSchemas(RELEASE_FIELDS);

/** The keys that say whether an object meets the filters. They are only present if the request has filters. */
export const qualification: Schemas = {
  qualifies: fieldSchema(OBJECT_FIELDS.qualifies),
  qualifies_reason: ref('QualifiesReason'),
};
export const QUALIFICATION_KEYS = Object.keys(qualification);

export function objectSchemas(catalogs: Catalogs) {
  const matchSummary = open(COINCIDENT_SOURCE, sourceIdentity(catalogs));
  const published = publishedMatch(catalogs);
  return {
    MatchSummary: matchSummary,
    PublishedMatch: published,
    ProvenanceSet: closed(
      'Settings that crossmatches used.',
      {
        basis: oneOfNames(PROVENANCE_BASES, 'The basis of the entry.'),
        description: text('An explanation; only for a best guess.'),
        crossmatch_radius_arcsec: crossmatchRadius,
        catalogs: catalogReleases,
        reliability_cuts: reliabilityCuts,
      },
      ['description'],
    ),
    Crossmatch: crossmatch,
    LookupMatch: {
      description: 'A coincident source; at `matches` a summary, at `full` the published form.',
      // Generated clients take the first schema that fits, and a published match has all properties of a summary.
      anyOf: [ref('LookupPublishedMatch'), ref('LookupMatchSummary')],
    },
    LookupMatchSummary: withProvenanceSet('MatchSummary', matchSummary),
    LookupPublishedMatch: withProvenanceSet('PublishedMatch', published),
    LookupObject: lookupObject,
    TnsRecord: closed('A registry object.', {
      objid,
      name: text('Bare designation.'),
      classification,
      redshift,
      url: text("The registry's page."),
      name_prefix,
      ra: rightAscension,
      dec: declination,
    }),
    ObjectTns: closed('The registry object nearest to the object when it was crossmatched.', {
      checked,
      snapshot_epoch: snapshotEpoch,
      ...rest,
      url: orNull(text("The registry's page.")),
    }),
  };
}

/**
 * This is a component, because client generators cannot name a schema that is nested in alternatives. Generators also
 * forget that a property of a referenced schema can be null, so such properties are repeated here.
 */
function withProvenanceSet(name: 'MatchSummary' | 'PublishedMatch', form: Schema): Schema {
  const nullable = Object.entries(form.properties as Schemas).filter(([, { type }]) => Array.isArray(type));
  const properties = { ...Object.fromEntries(nullable), provenance_set: setKey };
  return {
    description: `A ${name}, with the settings under which it was found.`,
    allOf: [ref(name), { type: 'object', properties, required: ['provenance_set'] }],
  };
}

export const publishedPayload: Schema = {
  type: ['object', 'null'],
  description:
    "The catalog's columns as published, keys lowercased; numbers are in the catalog's own units, missing values null. Right ascensions " +
    'follow the convention of the catalog.',
  additionalProperties: true,
};

function publishedMatch(catalogs: Catalogs): Schema {
  const columns = catalogs.all.map(
    ({ name, raColumn, decColumn }) => `of ${name} from \`${raColumn}\`,\`${decColumn}\``,
  );
  const asStored = `No proper motion is applied and no epoch propagated${epochs(catalogs, 'a source of', 'is')}.`;
  return open(
    `${COINCIDENT_SOURCE} As published, with its catalog payload.`,
    {
      diaObjectId: ref('DiaObjectId'),
      ra: {
        ...rightAscension,
        description: `The source's own right ascension, 0 to 360 whatever the catalog's convention: ${columns.join('; ')}. ${asStored}`,
      },
      dec: { ...declination, description: `The source's own declination. ${asStored}` },
      ...sourceIdentity(catalogs),
      ...separationAtEpoch,
      ...release,
      statistics,
      catalog_payload: publishedPayload,
      catalogs_skipped: list({ type: 'string' }, 'Always empty here.', { maxItems: 0 }),
      partial: always(false, 'Always false here.'),
      tns_checked: boolean('Whether the registry was searched.'),
      tns_snapshot_epoch: snapshotEpoch,
      tns: open('The associated registry object; only if there is one.', {
        objid: orNull(objid),
        name: text('Bare designation.'),
        classification,
        redshift,
        separation_arcsec,
        url: text("The registry's page."),
      }),
    },
    [SEPARATION_AT_EPOCH, 'statistics', 'tns'],
  );
}

const crossmatch = closed(
  'How an object was crossmatched.',
  {
    provenance: oneOfNames(PROVENANCE_STATES, 'Whether the settings of the crossmatch were recorded.'),
    ...fieldSchemas(CROSSMATCH_FIELDS),
    brokers_at_crossmatch: orNull(list({ type: 'string' }, 'The brokers that had delivered the object by then.')),
    catalog_outcomes: map(ref('CatalogOutcome'), 'Outcome per catalog, by its name.'),
    recording_release: text(
      'The release that first recorded crossmatch settings; only if this crossmatch has no record.',
    ),
    best_guess_provenance_set: constant(
      BEST_GUESS,
      'Key of the current settings in `provenance_sets`; only if this crossmatch has no record.',
    ),
  },
  ['recording_release', 'best_guess_provenance_set'],
);

const atPosition = Object.entries<ObjectField>(OBJECT_FIELDS).filter(([, { from }]) => from === 'position');
const positionKeys = fieldSchemas(Object.fromEntries(atPosition));

const matchesKeys: Schemas = {
  matches: list(ref('LookupMatch'), 'The coincident sources, by catalog name, then source id, both as text.'),
  tns: orNull(ref('ObjectTns')),
};

export const lookupObject = closed(
  'An object, at the detail level of the request. An object that the service does not have only has identifiers and a status.',
  {
    diaObjectId: ref('DiaObjectId'),
    diaObjectId_str: ref('DiaObjectIdStr'),
    status: ref('ObjectStatus'),
    ...positionKeys,
    crossmatch: { ...orNull(ref('Crossmatch')), description: 'null while pending.' },
    ...matchesKeys,
    separation_arcsec: separation,
    ...qualification,
  },
  [...Object.keys(positionKeys), 'crossmatch', ...Object.keys(matchesKeys), 'separation_arcsec', ...QUALIFICATION_KEYS],
);

/** The keys of a provenance map: a content hash, or the best guess. */
export const provenanceSets = map(ref('ProvenanceSet'), 'The settings to which the listed objects and matches refer.', {
  propertyNames: { anyOf: [{ pattern: '^[0-9a-f]{64}$' }, { const: BEST_GUESS }] },
});
