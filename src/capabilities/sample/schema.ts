/** Schemas of a report and of its request, for the OpenAPI document. */
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { INPUT_STATUSES, OBJECT_STATUSES } from '../../core/contract/enums.ts';
import { WORTH_FIELDS } from '../../core/contract/object_fields.ts';
import { VERDICTS } from '../../core/contract/verdict.js';
import { radiusKind } from '../../core/documents/kinds.ts';
import { kindSchema } from '../../core/documents/openapi/parameters.ts';
import {
  closed,
  count,
  fieldSchema,
  integer,
  list,
  map,
  number,
  open,
  orNull,
  ref,
  type Schema,
  text,
} from '../../core/documents/openapi/schema.ts';
import { AT } from '../../core/documents/parameters.ts';
import { declination, ownRadius, rightAscension, separation } from '../objects/common_schemas.ts';
import { DEFAULT_BRIGHT_ARCSEC, DEFAULT_BRIGHT_MAG, MAX_LABEL, MAX_SAMPLE_ROWS, MAX_TITLE } from './limits.ts';
import { BRIGHT_ARCSEC, BRIGHT_MAG } from './parse_sample.ts';
import { SAMPLE_OUTCOMES } from './rows.ts';

const meanings = (names: readonly { readonly name: string; readonly meaning: string }[]) =>
  names.map(({ name, meaning }) => `\`${name}\`: ${meaning}`).join('. ');

export function sampleRequest(config: Config, catalogs: Catalogs): Schema {
  const names = catalogs.all.map(({ name }) => name);
  return closed(
    'A sample. A malformed input yields a row with the status `invalid_input`.',
    {
      inputs: list(
        open(
          'An input as for a lookup: with `kind` and `diaObjectId`; or `ra`, `dec`; or `name`.',
          { label: text(`Names its row: at most ${MAX_LABEL} characters.`) },
          ['label'],
        ),
        `At most ${MAX_SAMPLE_ROWS}.`,
        { minItems: 1, maxItems: MAX_SAMPLE_ROWS },
      ),
      radius_arcsec: orNull(
        kindSchema(
          radiusKind(config),
          `The radius within which the object of a position or name is sought. The default is ${config.CROSSMATCH_RADIUS_ARCSEC}, and for names ${config.TNS_MATCH_RADIUS_ARCSEC}.`,
        ),
      ),
      catalogs: orNull(
        list(text(`One of ${names.join(', ')}.`), 'The catalogs to report on; by default all that are registered.', {
          minItems: 1,
        }),
      ),
      bright_mag: orNull(
        kindSchema(BRIGHT_MAG, `Stars brighter than this are reported. The default is ${DEFAULT_BRIGHT_MAG}.`),
      ),
      bright_radius_arcsec: orNull(
        kindSchema(BRIGHT_ARCSEC, `The radius for bright stars, inclusive. The default is ${DEFAULT_BRIGHT_ARCSEC}.`),
      ),
      at: orNull(kindSchema(AT.kind, `${AT.description} Not with names.`)),
      since: orNull(
        kindSchema(
          AT.kind,
          'An earlier journal entry: `changes` lists the rows that have changed since. Not with names.',
        ),
      ),
    },
    ['radius_arcsec', 'catalogs', 'bright_mag', 'bright_radius_arcsec', 'at', 'since'],
  );
}

export function keepRequest(config: Config, catalogs: Catalogs): Schema {
  const { properties, required, ...request } = sampleRequest(config, catalogs) as Schema & {
    properties: object;
    required: readonly string[];
  };
  const title = text('The title of the sample.', { minLength: 1, maxLength: MAX_TITLE });
  return { ...request, properties: { title, ...properties }, required: ['title', ...required] };
}

export const keptResponse: Schema = closed('A kept sample.', {
  id: text('Its id, which cannot be guessed. Whoever knows it may read and delete the sample.', {
    pattern: '^[0-9a-f]{32}$',
  }),
  title: text('Its title.'),
  created: text('When it was kept.', { format: 'date-time' }),
  expires: text('When it is removed.', { format: 'date-time' }),
  bytes: count('The bytes of the list.'),
  url: text('Its address.'),
});

export const interval = (description: string, unit = 'count') =>
  list({ type: 'number', 'x-unit': unit }, description, { minItems: 2, maxItems: 2 });

const tally = {
  searched: count('Positions that were searched.'),
  coincident: count('Positions with a source within the radius.'),
  expected_by_chance: number(
    'count',
    'How many of the searched positions have an unrelated source within the radius: the sum of 1 - exp(-πρR²) over all of them.',
    { minimum: 0 },
  ),
  expected_interval: interval('The 95% interval of a Poisson distribution with that mean.'),
  without_density: count('Searched positions without a known density, which the sum leaves out.'),
};

const cell = closed('The answer of a catalog.', {
  outcome: text(`Whether it was searched. ${meanings(SAMPLE_OUTCOMES)}.`),
  from: orNull(text("`archive`: the object's recorded crossmatch. `catalog`: the catalog's files at the position.")),
  catalog_source_id: orNull(text('Identifier of the nearest source.')),
  separation_arcsec: orNull({ ...separation, description: 'Separation of the source.' }),
  chance_probability: orNull({
    ...fieldSchema({ ...WORTH_FIELDS.chance_probability, isNullable: false }),
    description:
      'Probability that an unrelated source lies as close. Its sum over matches is not the number of chance matches: see `expected_by_chance`.',
  }),
  source_density: orNull({
    ...fieldSchema({ ...WORTH_FIELDS.source_density, isNullable: false }),
    description: 'Sources of the catalog per square arcmin around the position, with a source or without.',
  }),
  verdict: orNull(text(`What the catalog says the source is. It classifies no transient. ${meanings(VERDICTS)}.`)),
  verdict_reason: orNull(text('The values of the rules, with their thresholds.')),
  depth_mag: orNull(
    number(
      'mag',
      'Where there is no source: the magnitude in the main band down to which the catalog has sources here, the 95th percentile of the neighbouring rows.',
    ),
  ),
  depth_rows: orNull(count('The number of these rows.')),
});

const brightStar = closed('A star brighter than `bright_mag`.', {
  catalog_name: text('Name of the catalog.'),
  catalog_source_id: text('Identifier of the star.'),
  magnitude: number('mag', "The magnitude in the catalog's main band."),
  band: text('That band.'),
  separation_arcsec: { ...separation, description: 'Separation from the position.' },
});

const row = closed('An input.', {
  label: orNull(text('Its label; the id or the name without one.')),
  status: text(`The status of its object, or its own. ${meanings([...OBJECT_STATUSES, ...INPUT_STATUSES])}.`),
  diaObjectId_str: orNull(text('The nearest object; null without one.')),
  ra: orNull(rightAscension),
  dec: orNull(declination),
  galactic_latitude: orNull(number('deg', 'Galactic latitude of the position.', { minimum: -90, maximum: 90 })),
  separation_arcsec: orNull({ ...separation, description: "Separation of the object from the input's position." }),
  same_place: list({ type: 'string' }, 'Further objects within 1.5 arcsec of the position.'),
  tns: orNull(
    closed('The registry entry.', {
      name: text('Name with its prefix.'),
      classification: orNull(text('Class.')),
      redshift: orNull(number('dimensionless', 'Redshift.')),
    }),
  ),
  catalogs: map(cell, 'The answers by catalog.'),
  bright_stars: list(
    brightStar,
    'Bright stars near the position, nearest first; one star may come from several catalogs.',
  ),
  flags: list({ type: 'string' }, 'What to know about the row, in words.'),
});

const contaminated = {
  searched: count('Rows that at least one catalog searched.'),
  with_star_or_quasar: count('Rows with a star or a quasar.'),
  fraction: orNull(number('fraction', 'Their fraction of the searched rows.', { minimum: 0, maximum: 1 })),
  interval: orNull(interval('The 95% interval of that fraction (Wilson 1927).', 'fraction')),
};

const counts = (description: string) => map(count('Rows.'), description);

export const sampleResponse: Schema = closed(
  'A report on a sample.',
  {
    provenance: ref('Provenance'),
    journal_entry: integer('entry', 'The journal entry that the report is from.', { minimum: 0 }),
    radius_arcsec: number('arcsec', 'The radius of a coincidence, inclusive.', { exclusiveMinimum: 0 }),
    bright_mag: number('mag', 'The limit for bright stars.'),
    bright_radius_arcsec: number('arcsec', 'The radius for bright stars, inclusive.', { exclusiveMinimum: 0 }),
    count: count('The rows.'),
    rows: list(row, 'A row for each input, in their order.'),
    summary: closed('The summary of all rows.', {
      inputs: count('The inputs.'),
      statuses: counts('The inputs by status.'),
      catalogs: map(
        closed(
          'A catalog.',
          {
            ...ownRadius,
            ...tally,
            outside_footprint: count('Positions outside its footprint.'),
            skipped_read_failure: count('Positions for which it could not be read.'),
            no_position: count('Inputs without a position.'),
            not_registered: count('Inputs, if the catalog is not registered here.'),
            verdicts: counts('The sources by verdict.'),
          },
          ['radius_arcsec', 'radius_column'],
        ),
        'The counts by catalog.',
      ),
      contaminated: closed('The rows with a source that a catalog calls a star or a quasar.', {
        ...contaminated,
        with_star: count('Rows with a star.'),
        with_quasar: count('Rows with a quasar.'),
      }),
      galactic_latitude: list(
        closed('A bin of the absolute Galactic latitude.', {
          from: number('deg', 'Inclusive.'),
          to: number('deg', 'Exclusive, except 90.'),
          rows: count('Rows.'),
          contaminated: closed('The rows of the bin with a star or a quasar.', contaminated),
          catalogs: map(closed('A catalog.', tally), 'The counts by catalog.'),
        }),
        'The counts by bins.',
      ),
      with_bright_star: count('Rows with a bright star nearby.'),
      with_same_place: count('Rows with further objects at the same place.'),
      duplicates: closed('Rows that have the same object.', {
        rows: count('These rows.'),
        groups: list(
          list(integer('index', 'The index of a row.', { minimum: 0 }), 'Rows of one object.'),
          'At most 1000 groups.',
        ),
      }),
    }),
    methods: text('A paragraph for a paper.'),
    bibtex: text('The entries of the catalogs and of nearsky, in BibTeX.'),
    changes: list(
      closed('A row that has changed.', {
        index: integer('index', 'The index of the row.', { minimum: 0 }),
        label: orNull(text('Its label.')),
        changes: list({ type: 'string' }, 'The changes in words, each with its reason.'),
      }),
      'Only with `since`: the rows whose object, crossmatch or registry entry has changed.',
    ),
  },
  ['changes'],
);
