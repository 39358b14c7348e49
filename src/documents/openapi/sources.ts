/** Schemas of the sources near a position, and of the objects of a source. */
import type { Catalogs } from '../../contract/catalogs.ts';
import { NEARBY_OUTCOMES } from '../../contract/enums.ts';
import { declination, rightAscension, separation } from './common.ts';
import { publishedPayload, SEPARATION_AT_EPOCH, sourceIdentity, worth } from './objects.ts';
import { boolean, closed, count, list, number, oneOfNames, orNull, ref, type Schema, text } from './schema.ts';

const column = closed('A column of the payload.', {
  name: text('Its key in `catalog_payload`.'),
  unit: orNull(text('Unit in the spelling of VOUnits; null where there is none.')),
  ucd: text('Its UCD.'),
  description: text('Its meaning.'),
});

export function sourcesSchema(catalogs: Catalogs): Schema {
  const { catalog_name, catalog_source_id } = sourceIdentity(catalogs);
  return closed('The sources of the catalogs near a position.', {
    provenance: ref('Provenance'),
    ra: rightAscension,
    dec: declination,
    radius_arcsec: number('arcsec', 'Radius of the search, inclusive.', { exclusiveMinimum: 0 }),
    count: count('Sources within the radius, listed or not.'),
    truncated: boolean('Whether `limit` left some of them out, the farthest ones.'),
    catalogs: list(
      closed('The outcome of a catalog.', {
        catalog_name: text('Name of the catalog.'),
        outcome: oneOfNames(NEARBY_OUTCOMES, 'Whether it was searched.'),
        count: count('Sources of the catalog within the radius, listed or not.'),
        columns: list(column, 'The columns of `catalog_payload`, in order.'),
      }),
      'The catalogs that were asked for, in configured order.',
    ),
    sources: list(
      closed('A source as its catalog has it now.', {
        catalog_name: catalog_name!,
        catalog_source_id: catalog_source_id!,
        separation_arcsec: { ...separation, description: 'Separation of the source from the position.' },
        ...worth,
        sources_within_radius: count('Sources of the catalog within the radius, this one included.'),
        ra: rightAscension,
        dec: declination,
        catalog_payload: { ...publishedPayload, type: 'object' },
      }),
      'The sources, nearest first; equally near ones by catalog, then id.',
    ),
  });
}

export function objectsOfSourceSchema(catalogs: Catalogs): Schema {
  const { catalog_name, catalog_source_id, ...separations } = sourceIdentity(catalogs);
  return closed('The objects that are recorded with a source.', {
    provenance: ref('Provenance'),
    catalog_name: catalog_name!,
    catalog_source_id: catalog_source_id!,
    count: count('The listed objects.'),
    truncated: boolean('Whether there are more than are listed.'),
    objects: list(
      closed(
        'An object.',
        { diaObjectId: ref('DiaObjectId'), diaObjectId_str: ref('DiaObjectIdStr'), ...separations },
        [SEPARATION_AT_EPOCH],
      ),
      'The objects by ascending id.',
    ),
  });
}
