/**
 * Describes the service as a record for the registries of the Virtual Observatory: VOResource 1.1, VODataService 1.1,
 * TAPRegExt 1.0.
 */

import { escapeXml } from '@nearsky/astrotables';
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import { coneCapabilities, endpoints, root, VO_PATH } from '../vo/vosi.ts';
import { schemaElements, tapCapability } from './documents.ts';
import { adqlSettings } from './settings.ts';
import { listedTables } from './tables.ts';

export const RECORD_PATH = `${VO_PATH}/record`;

const SUBJECTS = ['time-domain-astronomy', 'transient-sources', 'catalogs', 'surveys'];
const DESCRIPTION =
  'Objects of the alerts of the Rubin Observatory, as brokers pass them on, with the sources of other catalogs that lie at their positions: queries in ADQL, and cone searches.';

/**
 * @param base scheme and host of this service
 * @param updated the UTC time of the last change to the record, to the second
 */
export function registryRecord(
  config: Config,
  base: string,
  catalogs: Catalogs,
  updated: string,
  hasEngine: boolean,
): string {
  const { VO_IDENTIFIER, VO_PUBLISHER, VO_CONTACT_EMAIL } = adqlSettings.of(config);
  // By default, the identifier is one that no registry knows.
  const identifier = VO_IDENTIFIER ?? `ivo://${new URL(base).hostname}/nearsky`;
  const publisher = escapeXml(VO_PUBLISHER);
  const email = VO_CONTACT_EMAIL === null ? '' : `<email>${escapeXml(VO_CONTACT_EMAIL)}</email>`;
  return (
    `${root('Resource', 'ri', 'vr', 'vs', 'cs', 'tr')} xsi:type="vs:CatalogService" status="active" created="${updated}" updated="${updated}">\n` +
    `<title>Objects of Rubin alerts and what lies at their positions</title>\n<shortName>nearsky</shortName>\n<identifier>${escapeXml(identifier)}</identifier>\n` +
    `<curation>\n<publisher>${publisher}</publisher>\n<contact><name>${publisher}</name>${email}</contact>\n</curation>\n` +
    `<content>\n${SUBJECTS.map(subject => `<subject>${subject}</subject>\n`).join('')}<description>${DESCRIPTION}</description>\n` +
    `<referenceURL>${escapeXml(base)}/</referenceURL>\n<type>Catalog</type>\n<contentLevel>Research</contentLevel>\n</content>\n` +
    `${hasEngine ? tapCapability(config, base) : ''}${coneCapabilities(config, base, catalogs)}${endpoints(`${base}${TAP_PATH}`)}` +
    `<tableset>\n${schemaElements(listedTables(catalogs))}</tableset>\n</ri:Resource>\n`
  );
}
