/** The steps that bring a data directory of an older format to the present one. */
import type { Databases } from './databases.ts';

/** Changes a database of one format to the next one, within the transaction of the upgrade. */
export type UpgradeStep = (databases: Databases) => void;

/** The first step leads from format 1 to format 2. The format of this release follows from their number. */
export const UPGRADES: readonly UpgradeStep[] = [];
