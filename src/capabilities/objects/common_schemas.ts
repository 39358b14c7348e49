/** Schemas that every operation uses: identifiers, enumerations, provenance, errors. */
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { API_CODES, SERVER_CODES } from '../../core/contract/codes.ts';
import {
  CATALOG_OUTCOMES,
  CUT_ENFORCERS,
  CUT_STATUSES,
  INPUT_STATUSES,
  OBJECT_STATUSES,
  QUALIFIES_REASONS,
} from '../../core/contract/enums.ts';
import { OBJECT_FIELDS } from '../../core/contract/object_fields.ts';
import {
  boolean,
  closed,
  fieldSchema,
  list,
  number,
  oneOfNames,
  open,
  orNull,
  ref,
  type Schemas,
  text,
} from '../../core/documents/openapi/schema.ts';
import { decimal } from '../../core/documents/prose.ts';
import { currentProvenance } from '../../core/store/provenance.ts';

export const serviceVersion = text('Release of the service.');
export const contractVersion = text('Version of this contract.');
export const crossmatchRadius = orNull(number('arcsec', 'Radius of the crossmatch.', { exclusiveMinimum: 0 }));
/** The members that only a catalog with a radius of its own has. */
export const ownRadius = {
  radius_arcsec: number('arcsec', 'Radius of the crossmatch with this catalog, if it has one of its own; inclusive.', {
    exclusiveMinimum: 0,
  }),
  radius_column: text(
    'Only if each source has a radius of its own: its column, or a multiple of it. The radius is at most `radius_arcsec`.',
  ),
};
export const catalogReleases = list(ref('CatalogRelease'), 'The catalogs, in configured order.');
export const reliabilityCuts = list(ref('ReliabilityCut'), 'The minimum reliability per broker, one entry each.');
const { diaObjectId, ra, dec, separation_arcsec } = OBJECT_FIELDS;
export const declination = fieldSchema({ ...dec, isNullable: false });
export const rightAscension = fieldSchema({ ...ra, isNullable: false });
export const separation = fieldSchema(separation_arcsec);

export function commonSchemas(config: Config, catalogs: Catalogs) {
  return {
    DiaObjectId: {
      ...fieldSchema(diaObjectId),
      description: `${diaObjectId.description}: written as a JSON number with all its digits.`,
      format: 'int64',
      minimum: 0,
    },
    DiaObjectIdStr: text('The identifier of the object as a decimal string.', { pattern: '^[0-9]+$' }),
    ObjectStatus: oneOfNames(OBJECT_STATUSES, 'Status of an object.'),
    InputStatus: oneOfNames(INPUT_STATUSES, 'Status of an input that is not an object id.'),
    CatalogOutcome: oneOfNames(CATALOG_OUTCOMES, 'The outcome of searching a catalog for an object.'),
    ErrorCode: oneOfNames(API_CODES, 'What went wrong; meant for programs.'),
    ServerErrorCode: oneOfNames(SERVER_CODES, 'What went wrong below the operations; meant for programs.'),
    QualifiesReason: oneOfNames(QUALIFIES_REASONS, 'Why an object or a result meets the filters, or does not.'),
    CutEnforcedBy: oneOfNames(CUT_ENFORCERS, 'Who enforces the minimum reliability.'),
    CutStatus: oneOfNames(CUT_STATUSES, 'How the minimum reliability is known.'),
    CatalogRelease: closed(
      'A catalog and its release.',
      {
        name: text('Name of the catalog in this API.'),
        release: text('Release of the catalog.'),
        proper_motion: boolean(
          "Always true, and only present if the catalog's sources are compared at the time of the object's event, using their proper motions.",
          { not: { const: false } },
        ),
        ...ownRadius,
      },
      ['proper_motion', 'radius_arcsec', 'radius_column'],
    ),
    ReliabilityCut: closed("The minimum reliability of one broker's alerts.", {
      broker: text("The broker's own name."),
      min_reliability: orNull(
        number('probability', 'Minimum LSST reliability, inclusive.', { minimum: 0, maximum: 1 }),
      ),
      enforced_by: ref('CutEnforcedBy'),
      status: ref('CutStatus'),
      as_of: orNull(text('Date of the declaration; null unless declared.', { format: 'date' })),
    }),
    Provenance: {
      ...closed(
        'What produced this answer: versions and current settings. The crossmatch radius is ' +
          `${decimal(config.CROSSMATCH_RADIUS_ARCSEC)} arcsec.`,
        {
          service_version: serviceVersion,
          contract_version: contractVersion,
          crossmatch_radius_arcsec: crossmatchRadius,
          catalogs: catalogReleases,
          reliability_cuts: reliabilityCuts,
        },
      ),
      examples: [currentProvenance(config, catalogs)],
    },
    Envelope: open('The part that every successful answer of the API has.', { provenance: ref('Provenance') }),
    Error: {
      ...errorSchema(
        'An error of an operation. An unknown path and an error in the service have a `ServerError` instead.',
        'ErrorCode',
        {
          param: text('The parameter that caused the error, or the first of several in `invalid_parameter`.'),
          params: list({ type: 'string' }, 'The parameters that caused the error, if there are several.', {
            minItems: 1,
          }),
        },
      ),
    },
    ServerError: errorSchema(
      'An error below the operations: an unknown path gives 404 `not_found`, and an error in the service gives 500 `internal_error`.',
      'ServerErrorCode',
    ),
  };
}

/** @param details the members between the message and `retryable`, all optional */
const errorSchema = (description: string, codes: 'ErrorCode' | 'ServerErrorCode', details: Schemas = {}) =>
  closed(
    description,
    {
      error: text('The same as `message`.'),
      code: ref(codes),
      message: text('A description of the problem and the remedy, for people.'),
      ...details,
      retryable: boolean('Whether the same request can succeed later.'),
    },
    Object.keys(details),
  );
