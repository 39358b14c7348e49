/** A catalog for the test of one file: it is copied to `src/contract/catalogs/` of a copy of the program. */
import type { CatalogDefinition } from '../../../src/contract/catalog.ts';

export const EUCLID_Q1: CatalogDefinition<'euclid_q1'> = {
  name: 'euclid_q1',
  release: 'Euclid Q1',
  idColumn: 'OBJECT_ID',
  raColumn: 'RIGHT_ASCENSION',
  decColumn: 'DECLINATION',
  footprintOrder: 9,
  columns: [
    { name: 'RIGHT_ASCENSION', type: 'float64', unit: 'deg', ucd: 'pos.eq.ra', description: 'Right ascension' },
    { name: 'DECLINATION', type: 'float64', unit: 'deg', ucd: 'pos.eq.dec', description: 'Declination' },
    { name: 'MAG_VIS', type: 'float64', unit: 'mag', ucd: 'phot.mag;em.opt', description: 'Magnitude in VIS, AB' },
    { name: 'MAGERR_VIS', type: 'float64', unit: 'mag', ucd: 'stat.error;phot.mag', description: 'Error of mag_vis' },
    { name: 'POINT_LIKE', type: 'float64', ucd: 'stat.probability', description: 'Probability of being a point' },
  ],
  filterable: [{ name: 'POINT_LIKE', unit: 'probability' }],
  epoch: { column: 'none_stored', value: 'J2024.5' },
  reference: {
    home: 'https://www.euclid-ec.org/',
    paper: 'Euclid Collaboration 2025',
    paperUrl: 'https://arxiv.org/abs/2503.15302',
  },
  chatKeys: ['mag_vis'],
  marker: [
    [-6, 0],
    [0, -3],
    [6, 0],
    [0, 3],
  ],
  colour: { light: '#444444', dark: '#cccccc' },
  photometry: {
    system: 'AB',
    main: 'VIS',
    bands: [{ letter: 'VIS', magnitude: 'mag_vis', error: 'magerr_vis' }],
    colours: [],
  },
  highlights: [{ kind: 'starness', label: 'Point', value: 'point_like', starFrom: 0.9, galaxyTo: 0.1 }],
};
