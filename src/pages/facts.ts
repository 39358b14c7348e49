/** What the scripts of the pages need of the live configuration. */
import { CATALOGS } from '../catalogs/definitions.ts';
import type { Config } from '../config.ts';
import { caveats } from '../contract/prose.ts';
import { CATALOG_WORDS, STATUS_WORDS, type Words } from './words.ts';

export interface Facts {
  readonly statuses: Words;
  readonly outcomes: Words;
  readonly catalogs: readonly { readonly name: string; readonly release: string }[];
  readonly crossmatchRadiusArcsec: number;
  readonly maxRadiusArcsec: number;
  readonly maxPositions: number;
  readonly maxWindowHours: number;
  readonly caveats: readonly string[];
  readonly links: readonly Link[];
}

/** A page elsewhere about an object, or about its place. `{id}`, `{ra}`, `{dec}` stand for its values. */
export interface Link {
  readonly name: string;
  readonly url: string;
  readonly about: string;
}

export function factsOf(config: Config): Facts {
  return {
    statuses: STATUS_WORDS,
    outcomes: CATALOG_WORDS,
    catalogs: CATALOGS.map(({ name, release }) => ({ name, release })),
    crossmatchRadiusArcsec: config.CROSSMATCH_RADIUS_ARCSEC,
    maxRadiusArcsec: config.API_MAX_CONE_RADIUS_ARCSEC,
    maxPositions: config.API_MAX_POSITIONS,
    maxWindowHours: config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS,
    caveats: caveats(),
    links: linksOf(config),
  };
}

function linksOf(config: Config): Link[] {
  const forId = (template: string) => template.replaceAll('{diaObjectId}', '{id}');
  return [
    { name: 'Lasair', url: forId(config.LASAIR_OBJECT_URL_TEMPLATE), about: 'the object at the broker' },
    { name: 'ANTARES', url: forId(config.ANTARES_OBJECT_URL_TEMPLATE), about: 'the object at the broker' },
    {
      name: 'TNS',
      url: 'https://www.wis-tns.org/search?ra={ra}&decl={dec}&radius=5&coords_unit=arcsec',
      about: 'transients reported here',
    },
    {
      name: 'SIMBAD',
      url: 'https://simbad.cds.unistra.fr/simbad/sim-coo?Coord={ra}d{dec}d&Radius=10&Radius.unit=arcsec',
      about: 'known sources around',
    },
    {
      name: 'Aladin Lite',
      url: 'https://aladin.cds.unistra.fr/AladinLite/?target={ra}%20{dec}&fov=0.03',
      about: 'images of the place',
    },
  ];
}
