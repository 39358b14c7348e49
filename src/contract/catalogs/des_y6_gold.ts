import type { CatalogDefinition } from '../catalog.ts';
import { GOLD, goldColumns, goldPhotometry } from './gold.ts';

const BANDS = 'grizy';

export const DES_Y6_GOLD: CatalogDefinition<'des_y6_gold'> = {
  ...GOLD,
  name: 'des_y6_gold',
  release: 'DES Y6 Gold',
  footprintOrder: 6,
  columns: goldColumns(BANDS),
  idRemark: 'A DELVE id of the same digits does not mean the same source.',
  reference: {
    home: 'https://des.ncsa.illinois.edu/',
    paper: 'Bechtol et al. 2025, arXiv:2501.05739',
    paperUrl: 'https://arxiv.org/abs/2501.05739',
  },
  marker: [
    [-5, -5],
    [5, -5],
    [5, 5],
    [-5, 5],
  ],
  colour: { light: '#1f5fbf', dark: '#7db3ff' },
  photometry: goldPhotometry(BANDS),
};
