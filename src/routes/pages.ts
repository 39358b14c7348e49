/** The pages for people, and the files that these load. */
import { baseUrl } from '../http/base_url.ts';
import { notFound } from '../http/errors.ts';
import type { Handler } from '../http/exchange.ts';
import { bytesResponse, textResponse } from '../http/respond.ts';
import type { Page } from '../pages/layout.ts';
import type { Service } from '../service.ts';
import { VO_PATH } from '../vo/vosi.ts';

/** Everything comes from this host, and no script or style that stands in a page is taken. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const PAGE_HEADERS = { 'Content-Security-Policy': POLICY, 'Cache-Control': 'no-cache' };
const FOR_EVER = 'public, max-age=31536000, immutable';

type Pages = typeof import('../pages/mod.ts');

/** Loaded with the first page that is asked for. */
const load = (): Promise<Pages> => import('../pages/mod.ts');

/** Each page, and the files that they load. */
export function pages({ config }: Service): readonly (readonly [path: string, operation: string, handler: Handler])[] {
  const page =
    (make: (pages: Pages, base: string) => Page): Handler =>
    async ({ request }) => {
      const loaded = await load();
      return textResponse('text/html', loaded.layout(make(loaded, baseUrl(request)), config), PAGE_HEADERS);
    };
  return [
    ['/', 'page', page(({ frontPage }) => frontPage(config))],
    ['/search', 'page', page(({ searchPage }) => searchPage())],
    ['/objects/:diaObjectId', 'page', page(({ objectPage }) => objectPage())],
    ['/recent', 'page', page(({ recentPage }) => recentPage(config))],
    ['/catalogs', 'page', page(({ catalogsPage }) => catalogsPage(config))],
    ['/brokers', 'page', page(({ brokersPage }) => brokersPage(config))],
    ['/consuming', 'page', page(({ consumingPage }, base) => consumingPage(config, base))],
    ['/status', 'page', page(({ statusPage }) => statusPage())],
    ['/api-docs', 'api_docs', page(({ apiDocsPage }, base) => apiDocsPage(config, base))],
    [VO_PATH, 'page', page(({ voPage }, base) => voPage(config, base))],
    ['/assets/:version/:name', 'asset', asset],
  ];
}

const asset: Handler = async ({ params, path }) => {
  const { files, version } = (await load()).loadAssets();
  const found = files.get(params.name!);
  if (!found) throw notFound(path);
  // A page that was loaded before an upgrade asks by the old version: it gets what there is, for once.
  return bytesResponse(found.type, found.bytes, {
    'Cache-Control': params.version === version ? FOR_EVER : 'no-store',
  });
};
