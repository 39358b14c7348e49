/** Reads areas of the sky from files named in a command. */
import { readFileSync } from 'node:fs';
import type { Area } from '@nearsky/sky-index';
import { readArea } from '../vo/areas.ts';

/** @throws AreaError */
export function areaIn(file: string): Area {
  const reading = readArea(readFileSync(file));
  for (let part = reading.next(); ; part = reading.next()) if (part.done) return part.value.area;
}
