/** The pages for people, and the files that the pages load. */
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { programFile } from '../../core/base/program_files.ts';
import { nowUs } from '../../core/base/times.ts';
import { OBJECT_ID } from '../../core/documents/kinds.ts';
import type { Api } from '../../core/host.ts';
import { weightsOf } from '../../core/http/accept.ts';
import { baseUrl, rootPath } from '../../core/http/base_url.ts';
import { compress } from '../../core/http/compression.ts';
import { notFound } from '../../core/http/errors.ts';
import type { Handler, Resource } from '../../core/http/exchange.ts';
import type { IncomingRequest } from '../../core/http/incoming.ts';
import { decodeSegment, type Search } from '../../core/http/params.ts';
import {
  type Answer,
  bytesResponse,
  emptyResponse,
  isUnchanged,
  jsonResponse,
  textResponse,
} from '../../core/http/respond.ts';
import { nightActivity } from '../../core/service/night_activity.ts';
import type { Service } from '../../core/service/service.ts';
import { isInstalled } from '../adql/tap.ts';
import { VO_PATH } from '../vo/vosi.ts';
import { clients } from './clients/files.ts';
import type { Examples } from './examples.ts';
import { feedLinks } from './feed_link.ts';
import type { Page } from './layout.ts';

/**
 * The content security policy: everything must come from this host, and inline scripts and styles are not allowed.
 * @param page the other origins that its scripts may contact, and from which they may show images
 */
const policy = ({ connectsTo = '', imagesFrom = '' }: Page) =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src ${`'self' ${imagesFrom}`.trim()}; ` +
  `connect-src ${`'self' ${connectsTo}`.trim()}; ` +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const FOR_EVER = 'public, max-age=31536000, immutable';

type Pages = typeof import('./all_pages.ts');

/** Loaded with the first requested document. */
const loadDocs = () => import('./docs_page.ts');
const FILE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** Loaded with the first requested page. */
const load = (): Promise<Pages> => import('./all_pages.ts');

/** All pages, and the files that they load. */
export function pages(service: Service, api: Api): readonly Resource[] {
  const { config } = service;
  let reference: ReturnType<Pages['apiReference']> | undefined;
  const page =
    (make: (pages: Pages, search: Search) => Page): Handler =>
    async ({ request, search }) => {
      const loaded = await load();
      return shown(loaded, make(loaded, search), service, request);
    };
  let finder: InstanceType<Pages['ExampleFinder']> | undefined;
  const withExamples =
    (make: (pages: Pages, examples: Examples, base: string, search: Search) => Page): Handler =>
    async ({ request, search }) => {
      const loaded = await load();
      finder ??= new loaded.ExampleFinder(service);
      return shown(loaded, make(loaded, await finder.find(), baseUrl(request, config), search), service, request);
    };
  const front = withExamples(({ frontPage }, examples) =>
    frontPage(config, examples, service.catalogs, service.look()?.latestIngestTimeUs === null),
  );
  const feedOf = feedLinks(api);
  const unknown = otherPath(service);
  const object: Handler = exchange => {
    const id = OBJECT_ID.parse(decodeSegment(exchange.params.diaObjectId!));
    if (id === undefined) return unknown(exchange);
    return page(({ objectPage }) => objectPage(id, config, service.catalogs))(exchange);
  };
  const all: readonly (readonly [path: string, metric: string, handler: Handler])[] = [
    ['/', 'page', exchange => searchAsked(exchange) ?? front(exchange)],
    ['/search', 'page', page(({ searchPage }) => searchPage(config))],
    ['/objects/:diaObjectId', 'page', object],
    [
      '/recent',
      'page',
      page(({ recentPage }, search) => recentPage(config, service.catalogs, feedOf('/recent', search))),
    ],
    [
      '/area',
      'page',
      withExamples(({ areaPage }, examples, _base, search) => areaPage(examples, feedOf('/area', search))),
    ],
    ['/crossmatch', 'page', page(({ crossmatchPage }) => crossmatchPage(config, service.catalogs))],
    ['/sample', 'page', page(({ samplePage }, search) => samplePage(config, feedOf('/sample', search)))],
    ['/validation', 'page', page(({ validationPage }) => validationPage(config))],
    ['/query', 'page', page(({ queryPage }) => queryPage(config, service.catalogs, isInstalled()))],
    ['/catalogs', 'page', page(({ catalogsPage }) => catalogsPage(config, service.catalogs))],
    ['/help', 'page', page(({ helpPage }) => helpPage())],
    ['/brokers', 'page', page(({ brokersPage }) => brokersPage(config))],
    [
      '/consuming',
      'page',
      withExamples(({ consumingPage }, examples, base) => consumingPage(api, config, base, examples, service.catalogs)),
    ],
    [
      '/status',
      'page',
      page(({ statusPage }) =>
        statusPage(
          service.read(store => nightActivity(store, nowUs())),
          service.catalogs,
        ),
      ),
    ],
    [
      '/api-docs',
      'api_docs',
      withExamples(({ apiDocsPage, apiReference }, examples, base) => {
        reference ??= apiReference(api, config);
        return apiDocsPage(reference(service.catalogs), base, examples);
      }),
    ],
    [VO_PATH, 'page', withExamples(({ voPage }, examples, base) => voPage(config, base, examples, service.catalogs))],
    ['/docs', 'docs', documents(service, () => '')],
    ['/docs/:name', 'docs', documents(service, ({ params }) => params.name!)],
    ['/clients/:name', 'client', client],
    ['/assets/:version/:name', 'asset', asset(service)],
    ['/favicon.ico', 'asset', icon(service)],
  ];
  return all.map(([path, metric, handler]) => ({ method: 'GET', path, metric, handler, isWithoutObjects: true }));
}

/** A request for the front page with `q` is a search. */
function searchAsked({ url }: Parameters<Handler>[0]): Answer | undefined {
  const query = url.indexOf('?');
  if (query < 0 || !new URLSearchParams(url.slice(query)).get('q')) return undefined;
  return emptyResponse(302, { Location: `/search${url.slice(query)}` });
}

/** Sends a page. It is compressed whatever its size, because its scripts are loaded after it. */
function shown(loaded: Pages, page: Page, service: Service, request: IncomingRequest): Promise<Answer> {
  const { config, catalogs } = service;
  const { pathname, search } = new URL(request.url);
  const text = loaded.layout(page, `${baseUrl(request, config)}${pathname}${search}`, config, catalogs);
  const pageHeaders = { 'Content-Security-Policy': policy(page), 'Cache-Control': 'no-cache' };
  const answer = { ...textResponse('text/html', text, pageHeaders), status: page.status ?? 200 };
  return compress(answer, text, request.headers.get('Accept-Encoding'));
}

/** Paths similar to those of pages, and the pages to which browsers are redirected. */
const NEARBY: ReadonlyMap<string, string> = new Map([
  ['/api', '/api-docs'],
  ['/objects', '/search'],
]);
const PAGE_PATHS =
  /^\/(?:objects\/\d{1,19}|search|recent|area|crossmatch|sample|validation|query|help|catalogs|brokers|consuming|status|api-docs|docs|docs\/[\w.-]+|vo)$/;

/** Answers any other path: browsers get a page, other clients the API's error. */
export function otherPath(service: Service): Handler {
  return async exchange => {
    const { method, path, request, url } = exchange;
    if ((method !== 'GET' && method !== 'HEAD') || !wantsPage(request.headers.get('Accept'))) throw notFound(path);
    const plain = path.replace(/\/+$/, '');
    const to = NEARBY.get(plain) ?? (plain !== path && PAGE_PATHS.test(plain) ? plain : undefined);
    if (to !== undefined) {
      const query = url.indexOf('?');
      return emptyResponse(302, { Location: `${to}${query < 0 ? '' : url.slice(query)}`, Vary: 'Accept' });
    }
    exchange.error = 'not_found';
    const loaded = await load();
    const answer = await shown(loaded, loaded.missingPage(service.config, path), service, request);
    return { ...answer, headers: { ...answer.headers, Vary: 'Accept, Accept-Encoding' } };
  };
}

/** Whether the client is a browser. Browsers name HTML in Accept; a wildcard alone does not count. */
function wantsPage(accept: string | null): boolean {
  if (accept === null) return false;
  const weights = weightsOf(accept);
  const html = weights.get('text/html') ?? 0;
  return html > 0 && html >= (weights.get('application/json') ?? 0);
}

/** Serves a page of the documents, a file that a page shows or links to, or the search index. */
function documents(service: Service, nameOf: (exchange: Parameters<Handler>[0]) => string): Handler {
  const unknown = otherPath(service);
  return async exchange => {
    const { request } = exchange;
    const { docsPage, SEARCH_INDEX, servedSite } = await loadDocs();
    const { pages, files, sections } = servedSite();
    const name = nameOf(exchange);
    const found = pages.get(name);
    if (found) return shown(await load(), docsPage(found), service, request);
    if (name === SEARCH_INDEX) {
      const root = rootPath(service.config);
      const rooted = sections.map(each => ({ ...each, address: root + each.address }));
      return jsonResponse(200, JSON.stringify(rooted), { 'Cache-Control': 'no-cache' });
    }
    const file = files.get(name);
    if (file === undefined) return unknown(exchange);
    const type = FILE_TYPES[extname(name)] ?? 'text/plain; charset=utf-8';
    return bytesResponse(type, new Uint8Array(readFileSync(programFile(file))), { 'Cache-Control': 'no-cache' });
  };
}

/** Serves a file of the client libraries, which pages of any origin may load. */
const client: Handler = ({ params, path, request }) => {
  const found = clients().files.get(params.name!);
  if (!found) throw notFound(path);
  const caching = { ETag: found.etag, 'Cache-Control': 'no-cache' };
  if (isUnchanged(request, found.etag)) return emptyResponse(304, caching);
  return bytesResponse(found.type, found.bytes, caching);
};

function asset(service: Service): Handler {
  return async ({ params, path, request }) => {
    const { loadAssets } = await load();
    const { files, version } = loadAssets(service.catalogs);
    const found = files.get(params.name!);
    if (!found) throw notFound(path);
    const headers = {
      // A page that was loaded before an upgrade requests the old version. It gets the current version, which must not
      // be cached.
      'Cache-Control': params.version === version ? FOR_EVER : 'no-store',
    };
    const answer = bytesResponse(found.type, found.bytes, headers);
    return await compress(answer, found.bytes, request.headers.get('Accept-Encoding'));
  };
}

/** Serves files that browsers request beside our pages. */
function icon(service: Service): Handler {
  return async () => {
    const { bytes, type } = (await load()).loadAssets(service.catalogs).files.get('icon.svg')!;
    return bytesResponse(type, bytes, { 'Cache-Control': 'public, max-age=86400' });
  };
}
