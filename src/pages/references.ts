/** Where the catalogs and the brokers are described by those who make them. */
import type { BrokerName } from '../store/types.ts';

export interface Reference {
  readonly home: string;
  readonly paper: string;
  readonly paperUrl: string;
}

/** By the name of the catalog. */
export const CATALOG_REFERENCES: Readonly<Record<string, Reference>> = {
  gaia_dr3: {
    home: 'https://www.cosmos.esa.int/web/gaia/data-release-3',
    paper: 'Gaia Collaboration, Vallenari et al. 2023, A&A 674, A1',
    paperUrl: 'https://doi.org/10.1051/0004-6361/202243940',
  },
  des_y6_gold: {
    home: 'https://des.ncsa.illinois.edu/',
    paper: 'Bechtol et al. 2025, arXiv:2501.05739',
    paperUrl: 'https://arxiv.org/abs/2501.05739',
  },
  delve_dr3_gold: {
    home: 'https://delve-survey.github.io/',
    paper: 'Drlica-Wagner et al. 2022, ApJS 261, 38 (of DR2)',
    paperUrl: 'https://arxiv.org/abs/2203.16565',
  },
  skymapper_dr4: {
    home: 'https://skymapper.anu.edu.au/',
    paper: 'Onken et al. 2024, PASA 41, e061',
    paperUrl: 'https://arxiv.org/abs/2402.02015',
  },
};

export const BROKER_PAGES: Readonly<Record<BrokerName, string>> = {
  antares: 'https://antares.noirlab.edu/',
  lasair: 'https://lasair.lsst.ac.uk/',
  pittgoogle: 'https://mwvgroup.github.io/pittgoogle-client/',
};
