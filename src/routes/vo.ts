/**
 * The Virtual Observatory's services: cone searches, their descriptions, coverage maps, and a page on how to use them.
 */
import { bytesOf } from '../answers/body.ts';
import type { Budget } from '../base/budget.ts';
import { processStart } from '../base/processes.ts';
import { baseUrl } from '../http/base_url.ts';
import { notFound } from '../http/errors.ts';
import type { Handler, Place } from '../http/exchange.ts';
import { bytesResponse, xmlResponse } from '../http/respond.ts';
import type { Service } from '../service/service.ts';
import { tapCapability } from '../tap/documents.ts';
import { canQuery } from '../tap/tap.ts';
import { coneTargets, OBJECTS } from '../vo/cone_tables.ts';
import { MOC_FORMATS, MOC_MEDIA_TYPES } from '../vo/moc.ts';
import { availability, capabilities, conePath, tableDocument, tableset, VO_PATH } from '../vo/vosi.ts';
import { voCone } from './vo_cone.ts';

/** How long a client may cache a coverage map. */
const MOC_MAX_AGE_SECONDS = 300;

export function virtualObservatory(service: Service): readonly Place[] {
  const cone = voCone(service);
  const vosi: Readonly<Record<string, Handler>> = {
    capabilities: ({ request }) => xmlResponse(capabilitiesOf(service, baseUrl(request, service.config))),
    availability: availabilityOf(service),
    tables: ({ search }) => xmlResponse(tableset(search.get('detail') === 'min', service.catalogs)),
    'tables/:name': ({ params, path }) => {
      const document = tableDocument(params.name!, service.catalogs);
      if (document === undefined) throw notFound(path);
      return xmlResponse(document);
    },
  };
  return [
    [conePath(OBJECTS), 'vo_cone', cone],
    // Some clients look for these resources beside the address of a search, others below it.
    ...[VO_PATH, conePath(OBJECTS)].flatMap(base =>
      Object.entries(vosi).map(([path, handler]) => [`${base}/${path}`, 'vosi', handler] as const),
    ),
    [`${conePath(OBJECTS)}/:catalog`, 'vo_cone', cone],
    [`${VO_PATH}/moc/:file`, 'moc', moc(service)],
  ];
}

/** The capabilities of all Virtual Observatory services. */
function capabilitiesOf({ config, catalogs }: Service, base: string): string {
  return capabilities(config, base, catalogs, canQuery(config) ? tapCapability(config, base) : '');
}

/**
 * @param own why a service cannot answer, for a reason of its own
 * @param noteOf a remark about a service that can answer
 */
export function availabilityOf(
  service: Service,
  own: () => string | undefined = () => undefined,
  noteOf: (budget: Budget) => Promise<string | undefined> = async () => undefined,
): Handler {
  const upSince = processStart().toISOString();
  const troubleOf = () => {
    if (service.isStopping) return 'The service is stopping';
    if (!service.indexReady) return 'The index is not ready';
    return service.look() ? own() : 'The database cannot be read';
  };
  return async ({ budget }) => {
    const trouble = troubleOf();
    const note = trouble ?? (await noteOf(budget));
    return xmlResponse(availability(trouble === undefined, note, upSince));
  };
}

function moc(service: Service): Handler {
  return async exchange => {
    const { params, path } = exchange;
    const [, name, extension] = /^(\w+)\.(\w+)$/.exec(params.file!) ?? [];
    const target = coneTargets(service.catalogs).find(each => each === name);
    const encoding = MOC_FORMATS.find(each => each === extension);
    if (!target || !encoding) throw notFound(path);
    const body = bytesOf(await service.queries.run({ kind: 'moc', target, encoding }, exchange));
    // The coverage of an unregistered catalog is unknown.
    if (body.length === 0) throw notFound(path);
    return bytesResponse(MOC_MEDIA_TYPES[encoding], body, { 'Cache-Control': `max-age=${MOC_MAX_AGE_SECONDS}` });
  };
}
