/** Pages by path, and the files that they load. */
export { loadAssets } from './assets.ts';
export {
  apiDocsPage,
  brokersPage,
  catalogsPage,
  consumingPage,
  frontPage,
  objectPage,
  recentPage,
  searchPage,
  statusPage,
} from './content.ts';
export { layout } from './layout.ts';
export { voPage } from './vo_page.ts';
