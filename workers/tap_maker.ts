/** The entry of the process that makes the tables for ADQL. */
import { runMaker } from '../src/tap/maker.ts';

runMaker();
