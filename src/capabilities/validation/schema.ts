/** The schema of the validation, for the OpenAPI document. */
import { VERDICTS } from '../../core/contract/verdict.js';
import {
  closed,
  count,
  integer,
  list,
  map,
  number,
  orNull,
  ref,
  text,
  time,
} from '../../core/documents/openapi/schema.ts';
import { interval } from '../sample/schema.ts';
import { GROUPS } from './classes.ts';

const radius = (description: string) => number('arcsec', description, { exclusiveMinimum: 0 });
const expected = {
  expected_by_chance: number('count', 'The sum of 1 - exp(-πρR²) over these positions.', { minimum: 0 }),
  expected_interval: interval('The 95% interval of a Poisson distribution with that mean.'),
};

const catalogOfClass = closed('A catalog.', {
  searched: count('Transients whose position was searched.'),
  outside_footprint: count('Transients outside its footprint.'),
  skipped_read_failure: count('Transients for which it could not be read.'),
  coincident: count('Transients with a source within the radius.'),
  fraction: orNull(number('fraction', 'Their fraction of the searched ones.', { minimum: 0, maximum: 1 })),
  interval: orNull(interval('The 95% interval of that fraction (Wilson 1927).', 'fraction')),
  ...expected,
  without_density: count('Searched transients without a known density, which that sum leaves out.'),
  verdicts: closed(
    'The sources by verdict.',
    Object.fromEntries(VERDICTS.map(({ name, meaning }) => [name, count(`Sources: ${meaning}.`)])),
  ),
  chance_probability: list(
    closed('A bin of `chance_probability`.', {
      from: number('fraction', 'Inclusive.'),
      to: number('fraction', 'Exclusive, except 1.'),
      sources: count('Sources.'),
    }),
    'The sources by the probability of an unrelated source as close.',
  ),
  without_chance: count('Sources without it.'),
});

const ofClass = {
  transients: count('Transients.'),
  catalogs: map(catalogOfClass, 'The registered catalogs.'),
};

const counted = {
  positions: count('Positions with a known density.'),
  observed: count('Those with a source within the radius.'),
  ...expected,
};

const catalogAtRandom = closed('A catalog.', {
  searched: count('Positions that were searched.'),
  outside_footprint: count('Positions outside its footprint.'),
  skipped_read_failure: count('Positions for which it could not be read.'),
  without_density: count('Searched positions without a known density, which are not counted below.'),
  radii: list(
    closed('A radius.', {
      radius_arcsec: radius('The radius, inclusive.'),
      ...counted,
      source_density: list(
        closed('A bin of the density that was estimated at the position.', {
          from: number('arcmin**-2', 'Inclusive.'),
          to: orNull(number('arcmin**-2', 'Exclusive; null without an upper border.')),
          ...counted,
        }),
        'The same by density, without empty bins.',
      ),
    }),
    'The radius of the crossmatch, and 10 arcsec.',
  ),
});

const validation = closed('The validation.', {
  made: time('When it was made.'),
  journal_entry: integer('entry', 'The journal entry that the objects are from.', { minimum: 0 }),
  provenance: ref('Provenance'),
  seed: integer('seed', 'The seed of the random choices.'),
  registry: closed("The classified transients of the registry's copy.", {
    epoch: orNull(time('The time of the registry; null without one.')),
    classified: count('Transients with a class in the registry.'),
    stored: count('Those with a stored object.'),
    transients: count('Those that were validated: all, or a random sample.'),
    object_radius_arcsec: radius('The radius within which the object of a transient is sought, inclusive.'),
    radius_arcsec: radius('The radius of a coincidence, inclusive.'),
    groups: list(
      closed('A group of classes.', {
        group: text(`One of ${GROUPS.map(({ name }) => name).join(', ')}.`),
        ...ofClass,
        classes: list(
          closed('A class.', { classification: text('The class in the registry.'), ...ofClass }),
          'The classes of the group, most frequent first.',
        ),
      }),
      'The groups.',
    ),
  }),
  calibration: closed('Random positions near stored objects.', {
    positions: count('Positions.'),
    displacement_arcsec: interval('The least and the largest distance from the object.', 'arcsec'),
    catalogs: map(catalogAtRandom, 'The registered catalogs.'),
  }),
});

export const validationResponse = closed('The validation.', {
  status: text('`made`, or `not_made`: none was made yet for this archive.'),
  refresh_hours: orNull(integer('h', 'Hours after which the service makes it again; null: never by itself.')),
  validation: orNull(validation),
});
