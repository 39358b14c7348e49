/** Schemas of the sources near a position, and of the objects of a source. */
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { NEARBY_OUTCOMES } from '../../core/contract/enums.ts';
import { WORTH_FIELDS } from '../../core/contract/object_fields.ts';
import { VERDICTS } from '../../core/contract/verdict.js';
import {
  boolean,
  closed,
  count,
  fieldSchemas,
  list,
  number,
  oneOfNames,
  orNull,
  ref,
  type Schema,
  text,
} from '../../core/documents/openapi/schema.ts';
import { declination, rightAscension, separation } from '../objects/common_schemas.ts';
import { publishedPayload, SEPARATION_AT_EPOCH, separationAtEpoch, sourceIdentity } from '../objects/object_schemas.ts';

const column = closed('A column of the payload.', {
  name: text('Its key in `catalog_payload`.'),
  unit: orNull(text('Unit in the spelling of VOUnits; null if there is none.')),
  ucd: text('Its UCD.'),
  description: text('Its meaning.'),
});

const VERDICT_MEANINGS = VERDICTS.map(({ name, meaning }) => `\`${name}\`: ${meaning}`).join('. ');

export function sourcesSchema(catalogs: Catalogs): Schema {
  const { catalog_name, catalog_source_id } = sourceIdentity(catalogs);
  return closed('The sources of the catalogs near a position.', {
    provenance: ref('Provenance'),
    ra: rightAscension,
    dec: declination,
    radius_arcsec: number('arcsec', 'Radius of the search, inclusive.', { exclusiveMinimum: 0 }),
    count: count('Number of sources within the radius, listed or not.'),
    truncated: boolean('Whether `limit` left out the farthest sources.'),
    catalogs: list(
      closed('The outcome of a catalog.', {
        catalog_name: text('Name of the catalog.'),
        outcome: oneOfNames(NEARBY_OUTCOMES, 'Whether it was searched.'),
        count: count("Number of the catalog's sources within the radius, listed or not."),
        columns: list(column, 'The columns of `catalog_payload`, in order.'),
      }),
      'The requested catalogs, in configured order.',
    ),
    sources: list(
      closed('A source, as it is in its catalog now.', {
        catalog_name: catalog_name!,
        catalog_source_id: catalog_source_id!,
        separation_arcsec: { ...separation, description: 'Separation of the source from the position.' },
        ...fieldSchemas(WORTH_FIELDS),
        sources_within_radius: count("Number of the catalog's sources within the radius, including this one."),
        magnitude: orNull(number('mag', 'Magnitude in `band`; null if the source has none.')),
        band: orNull(text("The catalog's main band, or the reddest one in which the source has a magnitude.")),
        verdict: text(`What the catalog says the source is. It classifies no transient. ${VERDICT_MEANINGS}.`),
        verdict_reason: text('The values of the rules, with their thresholds.'),
        ra: rightAscension,
        dec: declination,
        catalog_payload: { ...publishedPayload, type: 'object' },
      }),
      'The sources, nearest first; at equal separations by catalog, then id.',
    ),
  });
}

export function objectsOfSourceSchema(catalogs: Catalogs): Schema {
  const { catalog_name, catalog_source_id, ...nearness } = sourceIdentity(catalogs);
  return closed('The objects for which a source is recorded.', {
    provenance: ref('Provenance'),
    catalog_name: catalog_name!,
    catalog_source_id: catalog_source_id!,
    count: count('The listed objects.'),
    truncated: boolean('Whether there are more objects than listed.'),
    objects: list(
      closed(
        'An object.',
        { diaObjectId: ref('DiaObjectId'), diaObjectId_str: ref('DiaObjectIdStr'), ...nearness, ...separationAtEpoch },
        [SEPARATION_AT_EPOCH],
      ),
      'The objects by ascending id.',
    ),
  });
}
