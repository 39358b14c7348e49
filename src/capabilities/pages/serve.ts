export { otherPath as elsewhere, pages as resources } from './pages.ts';
