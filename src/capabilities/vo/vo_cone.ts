/**
 * GET /vo/scs and /vo/scs/{catalog}: Simple Cone Search 1.03, with the MAXREC, RESPONSEFORMAT and QUERY_STATUS of DALI
 * 1.1. Parameter names are not case-sensitive; unknown parameters are ignored. An invalid request gets status 200,
 * because clients of 1.03 read the reason from the document, and many do not read a document with another status. A
 * failure of the service keeps its own status.
 */

import { type Info, type Serialization, VOTABLE_TYPE } from '@nearsky/astrotables';
import { bytesOf } from '../../core/answers/body.ts';
import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { integer, number, textual } from '../../core/contract/kind.ts';
import { ANY_TEXT, DECLINATION, RIGHT_ASCENSION } from '../../core/documents/kinds.ts';
import { caveats } from '../../core/documents/prose.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { invalidParameter, notFound } from '../../core/http/errors.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { inUpperCase } from '../../core/http/params.ts';
import { readerOf } from '../../core/http/read_parameters.ts';
import { type Answer, bytesResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { VO_CONE, type VoConeQuery } from './cone_answer.ts';
import { coneTargets, DEFAULT_VERBOSITY, OBJECTS, type Verbosity } from './cone_tables.ts';
import { withVotableErrors } from './votable_errors.ts';

const ARCSEC_PER_DEGREE = 3600;
const VERBOSITY = textual('1, 2 or 3', text => (/^[123]$/.test(text.trim()) ? (Number(text) as Verbosity) : undefined));

const parametersOf = memoized(({ VO_MAX_RADIUS_DEG, VO_MAX_RECORDS }: Config) => ({
  RESPONSEFORMAT: { kind: ANY_TEXT, default: 'votable' },
  RA: { kind: RIGHT_ASCENSION, required: 'always' as const },
  DEC: { kind: DECLINATION, required: 'always' as const },
  SR: { kind: number({ min: 0, max: VO_MAX_RADIUS_DEG }), required: 'always' as const },
  VERB: { kind: VERBOSITY, default: DEFAULT_VERBOSITY },
  MAXREC: { kind: integer({ min: 0 }), default: VO_MAX_RECORDS },
}));

/** Answers with a table of the objects, or of the sources of the catalog in the path. */
export function voCone(service: Service): Handler {
  return withVotableErrors(
    exchange => answer(service, exchange),
    status => (status === 400 ? 200 : status),
  );
}

async function answer(service: Service, exchange: Exchange): Promise<Answer> {
  const { config, catalogs, queries } = service;
  const target = targetOf(exchange, service);
  // A parameter without a value counts as left out.
  const search = inUpperCase([...exchange.search].filter(([, value]) => value.trim() !== ''));
  const read = readerOf(search, parametersOf(config), catalogs);
  const { contentType, serialization } = votableFormat(read('RESPONSEFORMAT'));
  const query: VoConeQuery = {
    kind: VO_CONE,
    target,
    ra: read('RA'),
    dec: read('DEC'),
    radiusArcsec: ARCSEC_PER_DEGREE * read('SR'),
    verbosity: read('VERB'),
    // A value above the service's limit counts as the limit.
    maxRecords: Math.min(read('MAXREC'), config.VO_MAX_RECORDS),
    serialization,
    infos: infosOf(config),
    base: baseUrl(exchange.request, config),
  };
  return bytesResponse(contentType, bytesOf((await queries.run(query, exchange)).body));
}

function targetOf({ params, path }: Exchange, { catalogs }: Service): string {
  const target = params?.catalog ?? OBJECTS;
  if (!coneTargets(catalogs).includes(target)) throw notFound(path);
  return target;
}

const FORMATS: readonly string[] = ['votable', VOTABLE_TYPE, 'text/xml'];
const SERIALIZATIONS: Readonly<Record<string, Serialization>> = { tabledata: 'tabledata', binary2: 'binary2' };

/** The format of the answer. If a client requests a media type, the answer has that media type. */
export function votableFormat(text: string): { readonly contentType: string; readonly serialization: Serialization } {
  // An unencoded plus in a query string was decoded to a blank.
  const [format = '', ...parameters] = text
    .toLowerCase()
    .trim()
    .replaceAll(' ', '+')
    .split(/\+*;\+*/);
  const asked = parameters.find(each => each.startsWith('serialization='))?.slice('serialization='.length);
  const serialization = SERIALIZATIONS[asked?.replaceAll('"', '') ?? 'tabledata'];
  if (!FORMATS.includes(format) || !serialization) {
    const must = `one of ${FORMATS.join(', ')}, with ;serialization=TABLEDATA or ;serialization=BINARY2 if needed`;
    throw invalidParameter('RESPONSEFORMAT', must, text);
  }
  const type = format === 'votable' ? VOTABLE_TYPE : format;
  return { contentType: asked ? `${type};serialization=${serialization.toUpperCase()}` : type, serialization };
}

/** The parts of the document beside the rows. */
function infosOf({ APP_VERSION, CROSSMATCH_RADIUS_ARCSEC }: Config): Info[] {
  return [
    { name: 'standardID', value: 'ivo://ivoa.net/std/ConeSearch' },
    { name: 'server_software', value: `nearsky/${APP_VERSION}` },
    { name: 'crossmatch_radius_arcsec', value: `${CROSSMATCH_RADIUS_ARCSEC}` },
    { name: 'caveat', value: caveats()[0]! },
  ];
}
