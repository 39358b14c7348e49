/** Schemas of the operations that list the objects that meet filters. */
import { MAX_LOOKED_AT } from '../../core/contract/limits.ts';
import { OBJECT_FIELDS } from '../../core/contract/object_fields.ts';
import { schemaOf } from '../../core/documents/openapi/parameters.ts';
import {
  closed,
  constant,
  count,
  fieldSchema,
  list,
  number,
  oneOfNames,
  orNull,
  ref,
  type Schema,
  type Schemas,
  text,
  time,
} from '../../core/documents/openapi/schema.ts';
import { STATUS } from '../../core/documents/parameters.ts';
import { declination, rightAscension } from '../objects/common_schemas.ts';
import { detailLevel, nextCursor, pageSize } from '../objects/lookup_schemas.ts';
import { lookupObject, provenanceSets, QUALIFICATION_KEYS } from '../objects/object_schemas.ts';
import { timeField } from '../recent/schemas.ts';

const windowTime = (name: string) =>
  orNull(text(`${name} as it was sent; null if it is open.`, { format: 'date-time' }));

const selected: Schemas = {
  window: closed('The window.', { start: windowTime('Start'), end: windowTime('End') }),
  time_field: timeField,
  status: schemaOf(STATUS),
};

/** The keys of a page, for objects with this schema. */
function page(about: Schemas, objects: Schema): Schemas {
  return {
    provenance: ref('Provenance'),
    ...about,
    ...selected,
    detail: detailLevel,
    page_size: pageSize,
    count: count('Number of objects on this page; not a total.'),
    next_cursor: nextCursor,
    filters: ref('Filters'),
    provenance_sets: provenanceSets,
    objects,
    as_of: time('Time of the first page. The walk contains objects ingested up to this time.'),
  };
}

const AREA_KINDS = [
  { name: 'circle', meaning: 'a circle' },
  { name: 'polygon', meaning: 'a polygon' },
  { name: 'box', meaning: 'an ADQL box, which is a polygon of four corners' },
  { name: 'range', meaning: 'a range of right ascensions and declinations' },
  { name: 'moc', meaning: 'a MOC' },
  { name: 'probability_map', meaning: 'the densest pixels of a probability map' },
] as const;

const area = closed('The area.', {
  kind: oneOfNames(AREA_KINDS, 'The form in which it was given.'),
  level: orNull(
    number('probability', 'The fraction of a probability map; null for other areas.', {
      exclusiveMinimum: 0,
      maximum: 1,
    }),
  ),
});

/**
 * Properties that these operations leave out: all listed objects meet the filters, and without a position there are no
 * separations.
 */
const NOT_HERE = ['separation_arcsec', ...QUALIFICATION_KEYS];

function objectWith(further: Schemas): Schema {
  const own = Object.entries(lookupObject.properties as Schemas).filter(([name]) => !NOT_HERE.includes(name));
  return {
    ...lookupObject,
    description: 'An object, at the detail level of the request.',
    properties: { ...Object.fromEntries(own), ...further },
  };
}

const objectInArea = objectWith({
  ra: rightAscension,
  dec: declination,
  credible_level: fieldSchema(OBJECT_FIELDS.credible_level),
});

/**
 * The schema of a count.
 * @param objects the words for the counted objects
 */
function countSchema(objects: string, about: Schemas): Schema {
  return closed(`The number of ${objects} that meet the filters.`, {
    provenance: ref('Provenance'),
    response: constant('count', 'A count.'),
    ...about,
    ...selected,
    filters: orNull(ref('Filters')),
    total: count(`The number of ${objects} in the window that meet the filters.`),
  });
}

const outline = {
  order: {
    type: 'integer',
    minimum: 0,
    maximum: 13,
    description: 'The HEALPix order of the pixels.',
    'x-unit': 'HEALPix order',
  },
  edges: list(
    list({ type: 'number', 'x-unit': 'deg' }, 'Right ascension and declination of both ends, degrees.'),
    'The edges between the pixels that the area touches, and all others.',
  ),
} as const;

export const areaSchema: Schema = {
  oneOf: [
    closed('A page of the objects in an area.', page({ area }, list(objectInArea, 'The objects.')), ['filters']),
    countSchema('objects in the area', { area }),
    closed(
      'The outline of the area.',
      {
        provenance: ref('Provenance'),
        response: constant('outline', 'An outline.'),
        area,
        ...outline,
        contours: list(
          closed('The outline of a region.', { level: fieldSchema(OBJECT_FIELDS.credible_level), ...outline }),
          'Of a probability map: the outlines of its 50% and 90% regions that are smaller than the area.',
        ),
      },
      ['contours'],
    ),
  ],
};

export const objectsSchema: Schema = {
  oneOf: [
    closed(
      'A page of the objects by time.',
      page({}, list(objectWith({}), 'The objects: time descending, then identifier ascending.')),
      ['filters'],
    ),
    countSchema('objects', {}),
  ],
};

/** For operations whose filters exclude objects. */
export const LEFT_OUT =
  'Unlike in other operations, filters and the window exclude objects. A page may then be short or even empty, although another page ' +
  `follows, because about ${MAX_LOOKED_AT} objects at most are examined per page. Follow \`next_cursor\` until it is null.`;
