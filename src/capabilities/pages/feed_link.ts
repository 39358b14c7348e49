/** The feed of what a page shows. The pages work alike in a service without feeds. */
import type { Api } from '../../core/host.ts';
import type { Search } from '../../core/http/params.ts';
import { type Html, html } from './html.ts';

/** Undefined if the service has no feeds; `path` is undefined if the page shows nothing that has one. */
export type FeedLink = { readonly path: string | undefined } | undefined;

/** The feeds of pages by their paths: the feed has the value of a parameter of the page. */
const FEEDS = {
  '/recent': (search: Search) => `/feeds/matches${queryOf(search, 'catalog')}`,
  '/area': (search: Search) => (search.get('area') ? `/feeds/objects${queryOf(search, 'area')}` : undefined),
  '/sample': (search: Search) =>
    search.get('kept') ? `/feeds/samples/${encodeURIComponent(search.get('kept')!)}` : undefined,
};

const queryOf = (search: Search, name: string) =>
  search.get(name) ? `?${new URLSearchParams({ [name]: search.get(name)! })}` : '';

export function feedLinks({ operations }: Api) {
  const hasFeeds = operations.some(({ path }) => path === '/feeds/matches');
  return (page: keyof typeof FEEDS, search: Search): FeedLink => (hasFeeds ? { path: FEEDS[page](search) } : undefined);
}

/** The visible link; `offerFeed` of the scripts changes it. */
export const followLink = (feed: FeedLink): Html | undefined =>
  feed &&
  html`<p class="hint"><a id="feed" href="${feed.path ?? '/feeds/matches'}"${!feed.path && html` hidden`}>Follow this in a feed reader</a></p>`;
