/**
 * The Virtual Observatory's services: cone searches, their descriptions, coverage maps, and a page on how to use them.
 */
import { bytesOf } from '../../core/answers/body.ts';
import type { Api } from '../../core/host.ts';
import { baseUrl } from '../../core/http/base_url.ts';
import { notFound } from '../../core/http/errors.ts';
import type { Handler, Resource } from '../../core/http/exchange.ts';
import { bytesResponse, xmlResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { MOC_FORMATS, MOC_MEDIA_TYPES } from '../catalogs/moc.ts';
import { availabilityOf } from './availability.ts';
import { coneTargets, OBJECTS } from './cone_tables.ts';
import { MOC_QUERY, type MocQuery } from './moc_answer.ts';
import { LINKS_PATH } from './object_links.ts';
import { voCone } from './vo_cone.ts';
import { voLinks } from './vo_links.ts';
import { capabilities, conePath, tableDocument, tableset, VO_PATH } from './vosi.ts';

/** How long a client may cache a coverage map. */
const MOC_MAX_AGE_SECONDS = 300;

export function virtualObservatory(service: Service, api: Api): readonly Resource[] {
  const cone = voCone(service);
  const vosi: Readonly<Record<string, Handler>> = {
    capabilities: ({ request }) => xmlResponse(capabilitiesOf(service, api, baseUrl(request, service.config))),
    availability: availabilityOf(service),
    tables: ({ search }) => xmlResponse(tableset(search.get('detail') === 'min', service.catalogs)),
    'tables/:name': ({ params, path }) => {
      const document = tableDocument(params.name!, service.catalogs);
      if (document === undefined) throw notFound(path);
      return xmlResponse(document);
    },
  };
  const links = { path: LINKS_PATH, metric: 'vo_links', handler: voLinks(service, api) };
  return [
    { method: 'GET', path: conePath(OBJECTS), metric: 'vo_cone', handler: cone },
    // Some clients look for these resources beside the address of a search, others below it.
    ...[VO_PATH, conePath(OBJECTS)].flatMap(base =>
      Object.entries(vosi).map(([path, handler]): Resource => {
        return { method: 'GET', path: `${base}/${path}`, metric: 'vosi', handler, isWithoutObjects: true };
      }),
    ),
    { method: 'GET', path: `${conePath(OBJECTS)}/:catalog`, metric: 'vo_cone', handler: cone },
    { method: 'GET', path: `${VO_PATH}/moc/:file`, metric: 'moc', handler: moc(service) },
    { method: 'GET', ...links },
    { method: 'POST', ...links },
  ];
}

/** The capabilities of all Virtual Observatory services. */
function capabilitiesOf({ config, catalogs }: Service, api: Api, base: string): string {
  return capabilities(config, base, catalogs, api.vosiCapabilities(config, base));
}

function moc(service: Service): Handler {
  return async exchange => {
    const { params, path } = exchange;
    const [, name, extension] = /^(\w+)\.(\w+)$/.exec(params.file!) ?? [];
    const target = coneTargets(service.catalogs).find(each => each === name);
    const encoding = MOC_FORMATS.find(each => each === extension);
    if (!target || !encoding) throw notFound(path);
    const query: MocQuery = { kind: MOC_QUERY, target, encoding };
    const body = bytesOf((await service.queries.run(query, exchange)).body);
    // The coverage of an unregistered catalog is unknown.
    if (body.length === 0) throw notFound(path);
    return bytesResponse(MOC_MEDIA_TYPES[encoding], body, { 'Cache-Control': `max-age=${MOC_MAX_AGE_SECONDS}` });
  };
}
