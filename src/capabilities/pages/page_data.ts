/** The part of the live configuration that the scripts of the pages need. */

import type { Config } from '../../core/config/config.ts';
import { BROKERS, type BrokerDefinition, brokerSetting, pagedBrokers } from '../../core/contract/brokers.ts';
import { PROJECT_CATALOGS } from '../../core/contract/catalogs.ts';
import { TABLE_FORMATS } from '../../core/contract/formats.ts';
import { MAX_SOURCES_RADIUS_ARCSEC } from '../../core/contract/limits.ts';
import { caveats } from '../../core/documents/prose.ts';
import type { CatalogData } from './browser/payload.js';
import { pageSettings } from './settings.ts';
import { CATALOG_WORDS, STATUS_WORDS } from './words.ts';

/** The display data of the catalogs and of their sources. */
export function catalogData({ all } = PROJECT_CATALOGS): readonly CatalogData[] {
  return all.map(({ name, release, idType, radius, reference, marker, photometry, highlights, verdicts }) => ({
    name,
    release,
    idType,
    ...(radius && { radiusArcsec: radius.arcsec }),
    ...(reference && { reference: { paper: reference.paper, paperUrl: reference.paperUrl } }),
    // The path of the marker in plots: a polygon around the origin, 12 wide at most.
    marker: `M${marker.map(point => point.join(' ')).join('L')}Z`,
    photometry,
    highlights,
    ...(verdicts && { verdicts }),
  }));
}

export function pageDataOf(config: Config, catalogs = PROJECT_CATALOGS) {
  return {
    version: config.APP_VERSION,
    statuses: STATUS_WORDS,
    outcomes: CATALOG_WORDS,
    catalogs: catalogData(catalogs),
    crossmatchRadiusArcsec: config.CROSSMATCH_RADIUS_ARCSEC,
    maxRadiusArcsec: config.API_MAX_CONE_RADIUS_ARCSEC,
    maxSourcesRadiusArcsec: MAX_SOURCES_RADIUS_ARCSEC,
    maxPositions: config.API_MAX_POSITIONS,
    maxIds: config.API_MAX_IDS,
    maxObjects: config.API_MAX_OBJECTS_PER_REQUEST,
    maxRecentPage: config.RECENT_CROSSMATCH_MAX_PAGE_SIZE,
    maxWindowHours: config.RECENT_CROSSMATCH_MAX_WINDOW_HOURS,
    caveats: caveats(),
    brokers: Object.fromEntries(BROKERS.map(({ name, title }) => [name, title])),
    links: linksOf(config),
    imageUrl: pageSettings.of(config).SURVEY_IMAGE_URL_TEMPLATE,
    formats: TABLE_FORMATS.map(({ name, title, extensions }) => ({ name, title, extension: extensions[0] })),
  };
}

/**
 * The pages of other sites about an object, or about its position. `{id}`, `{ra}`, `{dec}` (with its sign) are replaced
 * by the values.
 */
function linksOf(config: Config) {
  const brokerLinks = ({ name, title, home, homeRemark }: BrokerDefinition) => {
    const paged = pagedBrokers.find(broker => broker.name === name);
    if (!paged) return homeRemark === undefined ? [] : [{ name: title, url: home, about: 'how to get the alert' }];
    const template = config[brokerSetting(paged.name, 'OBJECT_URL_TEMPLATE')];
    return [{ name: title, url: template.replaceAll('{diaObjectId}', '{id}'), about: 'light curve' }];
  };
  return [
    ...BROKERS.flatMap(brokerLinks),
    { name: 'Fink', url: 'https://lsst.fink-portal.org/{id}', about: 'light curve' },
    { name: 'ALeRCE', url: 'https://lsst.alerce.online/object/{id}?survey=lsst', about: 'light curve' },
    {
      name: 'TNS',
      url: 'https://www.wis-tns.org/search?ra={ra}&decl={dec}&radius=5&coords_unit=arcsec',
      about: 'transients',
    },
    {
      name: 'SIMBAD',
      url: 'https://simbad.cds.unistra.fr/simbad/sim-coo?Coord={ra}d{dec}d&Radius=10&Radius.unit=arcsec',
      about: 'known sources',
    },
    {
      name: 'NED',
      url: 'https://ned.ipac.caltech.edu/conesearch?search_type=Near%20Position%20Search&in_csys=Equatorial&in_equinox=J2000&ra={ra}d&dec={dec}d&radius=0.17',
      about: 'galaxies within 10″',
    },
    {
      name: 'VizieR',
      url: 'https://vizier.cds.unistra.fr/viz-bin/VizieR-4?-c={ra}%20{dec}&-c.rs=10',
      about: 'every catalog within 10″',
    },
    {
      name: 'Legacy Survey',
      url: 'https://www.legacysurvey.org/viewer?ra={ra}&dec={dec}&layer=ls-dr10&zoom=16&mark={ra},{dec}',
      about: 'deep images',
    },
    {
      name: 'Aladin Lite',
      url: 'https://aladin.cds.unistra.fr/AladinLite/?target={ra}%20{dec}&fov=0.03',
      about: 'images',
    },
  ];
}
