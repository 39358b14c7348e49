/** The table form of a report: one row for each input, with some columns for each catalog. */
import { type Cell, type Column, withOwnNames } from '@nearsky/astrotables';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { columnOf, OBJECT_FIELDS } from '../../core/contract/object_fields.ts';
import type { Listed, ListedTable } from '../tables/source_table.ts';
import type { SampleCell, SampleRow } from './rows.ts';

interface Field extends Column {
  readonly cell: (row: SampleRow) => Cell | undefined;
}

const text = (name: string, ucd: string, description: string, cell: Field['cell']): Field => ({
  name,
  type: 'text',
  ucd,
  description,
  cell,
});

const number = (
  name: string,
  unit: string | undefined,
  ucd: string,
  description: string,
  cell: Field['cell'],
): Field => ({
  name,
  type: 'float64',
  ...(unit !== undefined && { unit }),
  ucd,
  description,
  cell,
});

export function sampleTable(catalogs: readonly CatalogDefinition[]): ListedTable {
  const columns: readonly Field[] = withOwnNames([
    text('label', 'meta.id', 'Label of the input.', row => row.label),
    text('status', 'meta.code.status', 'Status of the object, or of an input without one.', row => row.status),
    {
      ...columnOf('diaObjectId', OBJECT_FIELDS.diaObjectId),
      cell: ({ diaObjectId_str: id }) => (id === null ? null : BigInt(id)),
    },
    { ...columnOf('ra', OBJECT_FIELDS.ra), cell: row => row.ra },
    { ...columnOf('dec', OBJECT_FIELDS.dec), cell: row => row.dec },
    number('galactic_latitude', 'deg', 'pos.galactic.lat', 'Galactic latitude.', row => row.galactic_latitude),
    number(
      'separation_arcsec',
      'arcsec',
      'pos.angDistance',
      "Separation from the input's position.",
      row => row.separation_arcsec,
    ),
    text('same_place', 'meta.id.assoc', 'Further objects within 1.5 arcsec.', row => row.same_place.join(' ') || null),
    text('tns_name', 'meta.id', 'Name in the registry.', row => row.tns?.name),
    text('tns_classification', 'src.class', 'Class in the registry.', row => row.tns?.classification),
    number('tns_redshift', undefined, 'src.redshift', 'Redshift in the registry.', row => row.tns?.redshift),
    ...catalogs.flatMap(catalogFields),
    number(
      'bright_star_mag',
      'mag',
      'phot.mag',
      'Magnitude of the nearest bright star.',
      row => row.bright_stars[0]?.magnitude,
    ),
    number(
      'bright_star_separation_arcsec',
      'arcsec',
      'pos.angDistance',
      'Separation of the nearest bright star.',
      row => row.bright_stars[0]?.separation_arcsec,
    ),
    text('flags', 'meta.note', 'What to know about the row.', row => row.flags.join('; ') || null),
  ]);
  return {
    name: 'sample',
    description: 'A report on a sample: one row for each input.',
    columns,
    row: (listed: Listed) => columns.map(({ cell }) => cell(listed as unknown as SampleRow) ?? null),
  };
}

function catalogFields({ name, release, photometry }: CatalogDefinition): Field[] {
  const of =
    <Key extends keyof SampleCell>(key: Key) =>
    ({ catalogs }: SampleRow) =>
      catalogs[name]?.[key];
  return [
    text(`${name}_outcome`, 'meta.code', `Whether ${release} was searched, and has a source.`, of('outcome')),
    text(`${name}_source_id`, 'meta.id', 'Identifier of the nearest source.', of('catalog_source_id')),
    number(
      `${name}_separation_arcsec`,
      'arcsec',
      'pos.angDistance',
      'Separation of the source.',
      of('separation_arcsec'),
    ),
    number(
      `${name}_chance_probability`,
      undefined,
      'stat.probability',
      'Probability of an unrelated source as close. The sum over matches is not the number of chance matches.',
      of('chance_probability'),
    ),
    number(
      `${name}_source_density`,
      'arcmin**-2',
      'src.density',
      'Sources of the catalog around the position.',
      of('source_density'),
    ),
    text(
      `${name}_verdict`,
      'src.class',
      'What the catalog says of its source; no classification of the transient.',
      of('verdict'),
    ),
    text(`${name}_verdict_reason`, 'meta.note', 'The values and thresholds of the verdict.', of('verdict_reason')),
    number(
      `${name}_depth_mag`,
      'mag',
      'phot.mag;stat.max',
      `Where there is no source: the magnitude ${photometry.main} down to which the catalog has sources here.`,
      of('depth_mag'),
    ),
  ];
}
