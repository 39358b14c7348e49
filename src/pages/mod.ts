/** Pages by path, and the files that they load. */
export { compactAsset, loadAssets } from './assets.ts';
export {
  apiDocsPage,
  brokersPage,
  catalogsPage,
  consumingPage,
  frontPage,
  missingPage,
  objectPage,
  recentPage,
  searchPage,
  statusPage,
} from './content.ts';
export { ExampleFinder } from './examples.ts';
export { layout } from './layout.ts';
export { voPage } from './vo_page.ts';
