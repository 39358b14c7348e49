/** The next release of nearsky, which reads one level more than this one. */
import { LEVEL } from '../../../src/core/store/level.ts';

/** The highest level that the next release reads. */
export const NEWER = LEVEL + 1;

/** The reason for which this release stops at that level. */
export const TOO_OLD = `the level of the log is ${NEWER} and this nearsky reads levels up to ${LEVEL}: install a newer nearsky on this node`;
