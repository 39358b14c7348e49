/**
 * The sky of a soak: any number of objects, every second one with a catalog source beside it; a catalog; and
 * registries.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { columnNames } from '../src/core/contract/catalog.ts';
import { catalogDefinition } from '../src/core/contract/catalogs.ts';
import { writeHats } from '../test/core/catalogs/write_hats.ts';
import { anywhere, offset, type Place, seededRandom } from '../test/oracle/skies.ts';
import type { Alert } from './ingest.ts';
import { idOf } from './processes.ts';

export const CATALOG = 'gaia_dr3';

const SOURCES = 60_000;
const FIRST_SOURCE = 4_612_352_219_396_039_168n;
const FIRST_ID = idOf(0);
const ID_STEP = idOf(1) - FIRST_ID;
/** Keys the random numbers of an object apart from those of its neighbours. */
const SPREAD = 7919;
const TRANSIENT_EVERY = 50;

export class SoakSky {
  readonly #seed: number;
  readonly #sources: readonly Place[];

  constructor(seed: number) {
    this.#seed = seed;
    const random = seededRandom(seed);
    this.#sources = Array.from({ length: SOURCES }, () => anywhere(random));
  }

  /** Object `number` (from 0): the same at every call. */
  object(number: number): Alert {
    const random = seededRandom(this.#seed + SPREAD * number);
    const source = this.#sources[number % SOURCES]!;
    const place = number % 2 ? anywhere(random) : offset(source, 1.5 * random(), 7 * random());
    return { id: idOf(number), ...place };
  }

  *objects(from: number, to: number): Generator<Alert> {
    for (let number = from; number < to; number++) yield this.object(number);
  }

  /** The number of the object with this id; undefined if the id is not one of ours. */
  numberOf(id: bigint): number | undefined {
    const distance = id - FIRST_ID;
    return distance >= 0n && distance % ID_STEP === 0n ? Number(distance / ID_STEP) : undefined;
  }

  writeCatalog(directory: string): void {
    const random = seededRandom(this.#seed + 1);
    const payload = columnNames(catalogDefinition(CATALOG)!).filter(name => name !== 'ra' && name !== 'dec');
    const column = () => Float32Array.from(this.#sources, () => 20 * random());
    mkdirSync(directory, { recursive: true });
    writeHats(directory, {
      name: CATALOG,
      columns: [
        { name: 'source_id', type: 'INT64', data: this.#sources.map((_, row) => FIRST_SOURCE + BigInt(row)) },
        { name: 'ra', type: 'DOUBLE', data: this.#sources.map(({ ra }) => ra) },
        { name: 'dec', type: 'DOUBLE', data: this.#sources.map(({ dec }) => dec) },
        ...payload.map(name => ({ name, type: 'FLOAT' as const, data: column() })),
      ],
      ra: 'ra',
      dec: 'dec',
      maxRows: SOURCES / 50,
    });
  }

  /**
   * A public registry file with the current time. Its transients lie at the positions of the first `objects` objects.
   */
  writeRegistry(file: string, objects: number): void {
    const now = new Date().toISOString().slice(0, 19).replace('T', ' ');
    const header =
      'objid,name_prefix,name,ra,declination,redshift,typeid,type,reporting_groupid,reporting_group,source_groupid,source_group,' +
      'discoverydate,discoverymag,discmagfilter,filter,reporters,time_received,internal_names,Discovery_ADS_bibcode,' +
      'Class_ADS_bibcodes,creationdate,lastmodified';
    const quoted = (cells: readonly string[]) => cells.map(cell => `"${cell}"`).join(',');
    const lines = [`"${now}"`, quoted(header.split(','))];
    for (let number = 0; number < objects; number += TRANSIENT_EVERY) {
      const { ra, dec } = this.object(number);
      const name = transientName(number / TRANSIENT_EVERY);
      const first = [`${9_000_000_001 + number}`, 'AT', name.slice(2), ra.toFixed(8), dec.toFixed(8)];
      lines.push(quoted([...first, ...Array<string>(header.split(',').length - first.length).fill('')]));
    }
    writeFileSync(file, `${lines.join('\n')}\n`);
  }
}

/** A designation of a year in which the registry has not given any: AT2099aaa, AT2099aab, … */
export function transientName(ordinal: number): string {
  let [letters, rest] = ['', ordinal];
  for (let place = 0; place < 4; place++) {
    letters = String.fromCharCode(97 + (rest % 26)) + letters;
    rest = Math.floor(rest / 26);
  }
  return `AT2099${letters}`;
}
