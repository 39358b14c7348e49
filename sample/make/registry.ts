/** The sample's registry of transients: made, in the layout of the public TNS file. */
import type { Target } from './alerts.ts';
import { offset } from './sky.ts';

/** Designations of made objects are of this year, objids from this number on: neither has the TNS given. */
const YEAR = 2099;
const MADE_OBJIDS = 9_000_000_001;

const COLUMNS = [
  'objid',
  'name_prefix',
  'name',
  'ra',
  'declination',
  'redshift',
  'typeid',
  'type',
  'reporting_groupid',
  'reporting_group',
  'source_groupid',
  'source_group',
  'discoverydate',
  'discoverymag',
  'discmagfilter',
  'filter',
  'reporters',
  'time_received',
  'internal_names',
  'Discovery_ADS_bibcode',
  'Class_ADS_bibcodes',
  'creationdate',
  'lastmodified',
] as const;

type Cells = Partial<Record<(typeof COLUMNS)[number], string>>;

/** Made objects beside alerts of the sample: separation (arcsec) and direction (radians). */
const BESIDE: readonly { id: string; separationArcsec: number; angle: number; cells: Cells }[] = [
  // Two within the radius: the nearer counts.
  {
    id: '313637935709683761',
    separationArcsec: 0.3,
    angle: 1,
    cells: { name_prefix: 'SN', type: 'SN Ia', redshift: '0.0512' },
  },
  { id: '313637935709683761', separationArcsec: 0.7, angle: 4, cells: { name_prefix: 'AT' } },
  { id: '313637935750578248', separationArcsec: 0.95, angle: 2, cells: { name_prefix: 'AT' } },
  // Just beyond the radius.
  {
    id: '313664312719705002',
    separationArcsec: 1.05,
    angle: 3,
    cells: { name_prefix: 'SN', type: 'SN II', redshift: '0.031' },
  },
  // To the other side of RA 0.
  { id: '9000000000000000003', separationArcsec: 0.5, angle: Math.PI / 2, cells: { name_prefix: 'TDE', type: 'TDE' } },
];

/** The lines of the file. Its first says a time long past: whoever loads it says which time it is to be. */
export function makeRegistry(targets: readonly Target[]): string[] {
  const rows = BESIDE.map(({ id, separationArcsec, angle, cells }, i): Cells => {
    const { ra, dec } = targets.find(target => target.id === id)!;
    const place = offset(ra, dec, separationArcsec, angle);
    return {
      objid: String(MADE_OBJIDS + i),
      name: `${YEAR}aa${String.fromCharCode(97 + i)}`,
      ra: String(place.ra),
      declination: String(place.dec),
      reporters: 'made for the sample of nearsky',
      ...cells,
    };
  });
  const line = (cells: readonly string[]) => cells.map(cell => `"${cell}"`).join(',');
  return ['"2000-01-01 00:00:00"', line(COLUMNS), ...rows.map(row => line(COLUMNS.map(column => row[column] ?? '')))];
}
