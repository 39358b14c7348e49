/** Public TNS files, made. */
import { crc32, deflateRawSync } from 'node:zlib';
import type { TnsRecord } from '../../../src/core/store/types.ts';

export const COLUMNS_21 = [
  'objid',
  'name_prefix',
  'name',
  'ra',
  'declination',
  'redshift',
  'typeid',
  'type',
  'reporting_groupid',
  'reporting_group',
  'source_groupid',
  'source_group',
  'discoverydate',
  'discoverymag',
  'discmagfilter',
  'filter',
  'reporters',
  'time_received',
  'internal_names',
  'creationdate',
  'lastmodified',
] as const;
export const COLUMNS_23 = [
  ...COLUMNS_21.slice(0, 19),
  'Discovery_ADS_bibcode',
  'Class_ADS_bibcodes',
  ...COLUMNS_21.slice(19),
];

const cell = (value: unknown) => `"${String(value ?? '').replaceAll('"', '""')}"`;

/** A file as the TNS writes it. */
export function csvOf(
  timeLine: string | undefined,
  records: readonly TnsRecord[],
  columns: readonly string[] = COLUMNS_23,
): string {
  const rows = records.map(record => {
    const cells: Record<string, unknown> = {
      objid: record.objid,
      name_prefix: record.namePrefix,
      name: record.name,
      ra: record.ra,
      declination: record.dec,
      redshift: record.redshift,
      type: record.classification,
      creationdate: record.createdUs && new Date(record.createdUs / 1000).toISOString().slice(0, 19).replace('T', ' '),
      reporters: 'A. One, B. "Two" Three,\nC. Four',
    };
    return columns.map(column => cell(cells[column])).join(',');
  });
  const first = timeLine === undefined ? [] : [cell(timeLine)];
  return [...first, columns.map(cell).join(','), ...rows, ''].join('\n');
}

export interface ZipEntry {
  readonly name: string;
  readonly content: string | Buffer;
}

/** A zip of deflated files. `spoil` changes what is stored as the checksums. */
export function zipOf(
  entries: readonly ZipEntry[],
  spoil: (checksum: number) => number = checksum => checksum,
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const bytes = Buffer.from(content as string);
    const packed = deflateRawSync(bytes);
    // From the version that is needed to the length of the extra field; both headers have these.
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(spoil(crc32(bytes)) >>> 0, 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, central, end]);
}

/** Made registry objects; objid 1 to `count`. */
export function someRecords(count: number): TnsRecord[] {
  return Array.from({ length: count }, (_, i) => ({
    objid: i + 1,
    name: `2026${(i + 100).toString(36)}`,
    namePrefix: i % 3 === 0 ? 'SN' : 'AT',
    ra: (i * 7.3) % 360,
    dec: ((i * 3.1) % 179) - 89,
    classification: i % 3 === 0 ? 'SN Ia' : null,
    redshift: i % 3 === 0 ? i / 1000 : null,
  }));
}
