/** POST /api/crossmatch: receives a table, and answers with the objects or sources at the positions of its rows. */

import { describeFrame, FrameError, frameOf } from '@nearsky/astrotables/frames';
import { toJson } from '@nearsky/astrotables/json';
import { formatTime, nowUs } from '../../core/base/times.ts';
import { MATCH_FORMATS, type MatchFormat } from '../../core/contract/formats.ts';
import { ALL_CATALOGS, DEFAULT_MATCH_RADIUS_ARCSEC, JOBS_PATH } from '../../core/contract/table_match.ts';
import { acceptsFits, preferredFormat } from '../../core/http/accept.ts';
import { ApiError } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import type { IncomingRequest } from '../../core/http/incoming.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import type { Service } from '../../core/service/service.ts';
import { releaseOf } from '../../core/store/provenance.ts';
import { answerTable, requireRead } from '../jobs/sent_table.ts';
import { TABLE } from './channel.ts';
import { maxTableBytes } from './limits.ts';
import type { TableRequest } from './match_task.ts';
import { matchedHeaders } from './matched_headers.ts';
import { tableParameters } from './parameters.ts';
import { TABLE_JOB } from './table_jobs.ts';

/** What to do with a table that takes too long. */
const SEND_LESS = 'send it in parts, or search a smaller radius';

export function crossmatchTable(service: Service): Handler {
  const { config, coordination } = service;
  return async exchange => {
    const request = parse(exchange, service);
    if (request.at !== undefined) await service.reachEntry(request.at, false, exchange.budget);
    return await answerTable(service, exchange, {
      maxBytes: maxTableBytes(config),
      wanted: 'send a table',
      async answer(files, budget) {
        const written = await coordination.ask(TABLE, { ...files, request }, budget);
        const begun = requireRead(written?.begun ?? null, 'crossmatch', SEND_LESS);
        const { bytes, answer } = written!;
        return { headers: matchedHeaders(begun), bytes, answer };
      },
      job: { kind: TABLE_JOB, path: JOBS_PATH, request },
    });
  };
}

/** The order of the checks is the contract's (docs/contract.md, Crossmatch of a table). */
function parse({ search, request }: Exchange, { catalogs, config, provenance }: Service): TableRequest {
  const read = readerOf(search, tableParameters(catalogs), catalogs);
  const against = read('against');
  const isAll = against === ALL_CATALOGS;
  const searched = catalogs.all.filter(({ name }) => isAll || name === against);
  const error = read('error_arcsec');
  if (error !== undefined && searched.length === 0)
    throw new ApiError('invalid_parameter', 'error_arcsec needs a catalog in against', { param: 'error_arcsec' });
  const epoch = read('epoch');
  if (epoch !== undefined && !searched.some(({ motion }) => motion))
    throw new ApiError('invalid_parameter', 'epoch needs a catalog with proper motions in against', { param: 'epoch' });
  const at = read('at');
  if (at !== undefined && searched.length > 0)
    throw new ApiError('invalid_parameter', 'at needs against=objects, because catalogs have no history', {
      param: 'at',
    });
  const radiusArcsec = read('radius_arcsec');
  const find = read('find');
  if (isAll && find === 'all')
    throw new ApiError(
      'invalid_parameter',
      'find must be nearest if against is all, because a row has one source of each catalog (all was given)',
      { param: 'find' },
    );
  const rows = read('rows');
  // Crossmatches of objects may move the sources of other catalogs; this one does not.
  const releases = catalogs.all.map(({ name, release, motion, radius }) =>
    releaseOf(
      // A radius that is given replaces those of the catalogs.
      { name, release, ...(radius && radiusArcsec === undefined && { radius }) },
      epoch !== undefined && motion !== undefined && searched.some(each => each.name === name),
    ),
  );
  // Two answers with the same `at` have the same bytes.
  const time = at === undefined && { time: formatTime(nowUs()) };
  const radius = radiusArcsec ?? (isAll ? undefined : searched[0]?.radius?.arcsec) ?? DEFAULT_MATCH_RADIUS_ARCSEC;
  const about = { against, radius_arcsec: radius, find, rows, ...time };
  return {
    catalogs: searched,
    isAll,
    radiusArcsec,
    find,
    rows,
    format: read('format') ?? acceptedFormat(request),
    named: { ra: read('ra'), dec: read('dec'), frame: frameParam(read('frame')) },
    columns: read('columns'),
    raUnit: read('ra_unit'),
    error,
    priorCompleteness: config.MATCH_PRIOR_COMPLETENESS,
    epoch,
    at,
    about: toJson({ provenance: { ...provenance, catalogs: releases }, ...about }),
  };
}

/** @throws ApiError for an unsupported frame */
function frameParam(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return describeFrame(frameOf(text));
  } catch (error) {
    if (!(error instanceof FrameError)) throw error;
    throw new ApiError('invalid_parameter', `Cannot crossmatch the table because ${error.message}`, { param: 'frame' });
  }
}

/** A client that accepts anything, or JSON, gets the format of its table. */
function acceptedFormat({ headers }: IncomingRequest): MatchFormat | undefined {
  const accept = headers.get('Accept');
  if (acceptsFits(accept)) return 'fits';
  const accepted = preferredFormat(accept);
  return MATCH_FORMATS.find(({ name }) => name === accepted)?.name;
}
