/**
 * GET and POST /vo/links: the links of objects (DataLink 1.1). Parameter names are not case-sensitive; unknown parameters
 * are ignored. ID may be repeated.
 */
import { VOTABLE_TYPE } from '@nearsky/astrotables';
import { bytesOf } from '../../core/answers/body.ts';
import { OBJECT_ID } from '../../core/documents/kinds.ts';
import type { Api } from '../../core/host.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import type { Exchange, Handler } from '../../core/http/exchange.ts';
import { readBytes } from '../../core/http/json_body.ts';
import { pairsOf } from '../../core/http/params.ts';
import { bytesResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { isMultipart, readForm } from './form.ts';
import { VO_LINKS } from './links_answer.ts';
import { LINKS_TYPE } from './object_links.ts';
import { votableFormat } from './vo_cone.ts';
import { withVotableErrors } from './votable_errors.ts';

/** The maximum number of identifiers of a request; further ones are ignored, and the answer says so. */
const MAX_IDS = 1000;
const MAX_FORM_BYTES = 65_536;
/** The maximum length of an identifier that is repeated in the answer, in ASCII. */
const MAX_ID_CHARACTERS = 64;

export function voLinks(service: Service, { hasPages }: Api): Handler {
  return withVotableErrors(
    async exchange => {
      const parameters = await parametersOf(exchange);
      const valuesOf = (wanted: string) =>
        parameters.flatMap(([name, value]) => (name.toUpperCase() === wanted && value !== '' ? value : []));
      const { contentType, serialization } = votableFormat(valuesOf('RESPONSEFORMAT').at(-1) ?? 'votable');
      const all = valuesOf('ID');
      const ids = all.slice(0, MAX_IDS).map(sent => ({
        sent: sent.slice(0, MAX_ID_CHARACTERS).replace(/[^\x20-\x7e]/g, '?'),
        diaObjectId: OBJECT_ID.parseText(sent.trim()),
      }));
      const base = baseUrl(exchange.request, service.config);
      const query = { kind: VO_LINKS, ids, isCut: all.length > ids.length, base, hasPages, serialization } as const;
      const body = bytesOf((await service.queries.run(query, exchange)).body);
      return bytesResponse(contentType.replace(VOTABLE_TYPE, LINKS_TYPE), body);
    },
    undefined,
    status => (status < 500 ? 'UsageFault' : 'TransientFault'),
  );
}

async function parametersOf({ method, request, url, budget }: Exchange): Promise<[name: string, value: string][]> {
  const sent = [...pairsOf(new URL(url).search.slice(1))];
  if (method !== 'POST') return sent;
  // A body without a type is taken for the usual form.
  if (request.headers.get('Content-Type') && isMultipart(request))
    return [...sent, ...(await readForm(request, { isField: () => true, file: () => () => {}, maxFileBytes: 0 }))];
  const form = await readBytes(request, budget, MAX_FORM_BYTES);
  return [...sent, ...pairsOf(Buffer.from(form).toString('utf8'))];
}
