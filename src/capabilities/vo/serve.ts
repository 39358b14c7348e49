export { virtualObservatory as resources } from './vo.ts';
