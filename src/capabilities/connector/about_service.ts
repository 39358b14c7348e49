/** The tool that describes the service (docs/contract.md, Connector). */
import { formatTime, formatTimeOrNull, nowUs } from '../../core/base/times.ts';
import { isSnapshotCurrent } from '../../core/contract/tns_names.ts';
import { howCompared, ownRadii } from '../../core/documents/prose.ts';
import type { ToolContext } from '../../core/http/tool.ts';
import { answerText } from './answer_text.ts';

const DOES_NOT_ANSWER = [
  'Which galaxy hosts a transient, or whether it is hostless.',
  'Whether the survey has an object: the service holds only alerts that its brokers delivered, after their reliability cuts.',
  'Light curves, images, spectra or classifications of alerts.',
  'Catalog sources away from alert objects, or further from an object than the crossmatch radius.',
];

/** The text of the answer. It also reports whether the database cannot be read. */
export async function aboutService({ service }: ToolContext): Promise<string> {
  const { config, catalogs, provenance } = service;
  const seen = service.look();
  const epochUs = seen?.tnsSnapshotEpochUs ?? null;
  const isCurrent = isSnapshotCurrent(epochUs, nowUs(), config.TNS_SNAPSHOT_MAX_AGE_SECONDS);
  const answer = {
    service_version: provenance.service_version,
    database: seen ? 'ok' : 'unavailable',
    catalogs: provenance.catalogs,
    crossmatch_radius_arcsec: config.CROSSMATCH_RADIUS_ARCSEC,
    crossmatch_rule:
      'For each object and each catalog, only the nearest catalog source within the radius (inclusive) is kept. ' +
      `${howCompared(config, catalogs)}.${ownRadii(catalogs)}`,
    reliability_cuts: provenance.reliability_cuts,
    tns_resolution: isCurrent ? 'available' : 'unavailable',
    tns_snapshot_epoch: isCurrent ? formatTime(epochUs) : null,
    tns_match_radius_arcsec: config.TNS_MATCH_RADIUS_ARCSEC,
    max_search_radius_arcsec: config.API_MAX_CONE_RADIUS_ARCSEC,
    latest_alert_ingest: formatTimeOrNull(seen?.latestIngestTimeUs),
    latest_alert_ingest_note:
      'When the newest object was first stored, UTC; null if there is none, or the database cannot be read. It is not the time of an ' +
      'alert, and later alerts of a known object do not change it.',
    does_not_answer: DOES_NOT_ANSWER,
  };
  return answerText(answer);
}
