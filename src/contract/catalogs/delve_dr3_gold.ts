import type { CatalogDefinition } from '../catalog.ts';
import { GOLD, goldColumns, goldPhotometry } from './gold.ts';

const BANDS = 'griz';

export const DELVE_DR3_GOLD: CatalogDefinition<'delve_dr3_gold'> = {
  ...GOLD,
  name: 'delve_dr3_gold',
  release: 'DELVE DR3 Gold',
  footprintOrder: 10,
  columns: goldColumns(BANDS),
  idRemark: 'A DES id of the same digits does not mean the same source.',
  reference: {
    home: 'https://delve-survey.github.io/',
    paper: 'Drlica-Wagner et al. 2022, ApJS 261, 38 (of DR2)',
    paperUrl: 'https://arxiv.org/abs/2203.16565',
  },
  marker: [
    [0, -6],
    [6, 5],
    [-6, 5],
  ],
  colour: { light: '#0b7a5a', dark: '#58d0a4' },
  photometry: goldPhotometry(BANDS),
};
