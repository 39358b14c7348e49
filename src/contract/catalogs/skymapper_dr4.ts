import type { CatalogColumn, CatalogDefinition } from '../catalog.ts';
import { magnitudeColumns } from '../catalog.ts';

const BANDS = 'uvgriz';

const integer = (name: string, description: string, ucd: string, unit?: string): CatalogColumn => ({
  name,
  type: 'int64',
  ...(unit !== undefined && { unit }),
  ucd,
  description,
});

export const SKYMAPPER_DR4: CatalogDefinition<'skymapper_dr4'> = {
  name: 'skymapper_dr4',
  release: 'SkyMapper DR4',
  idColumn: 'object_id',
  raColumn: 'raj2000',
  decColumn: 'dej2000',
  footprintOrder: 8,
  columns: [
    ...magnitudeColumns(BANDS, { name: band => `${band}_psf`, errorName: band => `e_${band}_psf`, kind: 'PSF' }),
    { name: 'raj2000', type: 'float64', unit: 'deg', ucd: 'pos.eq.ra', description: 'Right ascension' },
    { name: 'dej2000', type: 'float64', unit: 'deg', ucd: 'pos.eq.dec', description: 'Declination' },
    integer('e_raj2000', 'Error of raj2000', 'stat.error;pos.eq.ra', 'mas'),
    integer('e_dej2000', 'Error of dej2000', 'stat.error;pos.eq.dec', 'mas'),
    {
      name: 'class_star',
      type: 'float64',
      ucd: 'src.class.starGalaxy',
      description: 'Star-galaxy class, from 0 (galaxy) to 1 (star)',
    },
    integer('flags', 'Flags: of the detections, combined', 'meta.code'),
    integer('nimaflags', 'Number of flagged pixels', 'meta.number'),
    integer('ngood', 'Number of detections without flags', 'meta.number'),
  ],
  filterable: [],
  reference: {
    home: 'https://skymapper.anu.edu.au/',
    paper: 'Onken et al. 2024, PASA 41, e061',
    paperUrl: 'https://arxiv.org/abs/2402.02015',
  },
  chatKeys: ['g_psf', 'r_psf', 'class_star'],
  marker: [
    [0, 6],
    [6, -5],
    [-6, -5],
  ],
  colour: { light: '#9a2f86', dark: '#ee8fdc' },
  photometry: {
    system: 'AB, PSF',
    main: 'r',
    bands: [...BANDS].map(letter => ({ letter, magnitude: `${letter}_psf`, error: `e_${letter}_psf` })),
    colours: [
      ['g', 'r'],
      ['g', 'i'],
    ],
  },
  highlights: [
    {
      kind: 'starness',
      label: 'Star or galaxy',
      title: 'From 0, a galaxy, to 1, a star',
      value: 'class_star',
      starFrom: 0.9,
      galaxyTo: 0.5,
    },
    { kind: 'flags', label: 'Flags', of: ['flags'] },
  ],
};
