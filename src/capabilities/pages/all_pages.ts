/** Pages by path, and the files that they load. */
export { areaPage } from './area_page.ts';
export { loadAssets } from './assets.ts';
export {
  apiDocsPage,
  apiReference,
  brokersPage,
  catalogsPage,
  consumingPage,
  frontPage,
  helpPage,
  missingPage,
  objectPage,
  recentPage,
  searchPage,
  statusPage,
} from './content.ts';
export { crossmatchPage } from './crossmatch_page.ts';
export { ExampleFinder } from './examples.ts';
export { layout } from './layout.ts';
export { queryPage } from './query_page.ts';
export { samplePage } from './sample_page.ts';
export { validationPage } from './validation_page.ts';
export { voPage } from './vo_page.ts';
