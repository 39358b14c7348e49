/**
 * Makes ZIP archives (PKWARE's APPNOTE.TXT, 4.3). The same files always give the same bytes, because entries are not
 * compressed and all have the date 1980-01-01.
 */
import { crc32 } from 'node:zlib';

const utf8 = new TextEncoder();

/** 1980-01-01, as MS-DOS encodes dates. */
const DATE = 0x21;
/** Version 2.0. */
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 1 << 11;
/** The Unix mode of a regular file that everyone may read. pip sets it for the installed files. */
const UNIX = 3 << 8;
const ATTRIBUTES = 0o100644 * 2 ** 16;

/**
 * @param files by their paths with slashes, in the order of the archive
 * @returns the archive; it must stay below 4 GiB and 65,535 files
 */
export function zip(files: ReadonlyMap<string, Uint8Array>): Uint8Array<ArrayBuffer> {
  const local: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let offset = 0;
  for (const [path, bytes] of files) {
    const name = utf8.encode(path);
    // The part that both headers have in common: from the version to the lengths of the name and the extra fields.
    const common = new DataView(new ArrayBuffer(26));
    const numbers = [VERSION, FLAGS, 0, 0, DATE];
    for (const [i, number] of numbers.entries()) common.setUint16(2 * i, number, true);
    common.setUint32(10, crc32(bytes), true);
    common.setUint32(14, bytes.length, true);
    common.setUint32(18, bytes.length, true);
    common.setUint16(22, name.length, true);
    const header = new Uint8Array(common.buffer);
    const place = new DataView(new ArrayBuffer(14));
    place.setUint32(6, ATTRIBUTES, true);
    place.setUint32(10, offset, true);
    const entry = [utf8.encode('PK\x03\x04'), header, name, bytes];
    local.push(...entry);
    central.push(
      utf8.encode('PK\x01\x02'),
      Uint8Array.of(VERSION, UNIX >> 8),
      header,
      new Uint8Array(place.buffer),
      name,
    );
    offset += entry.reduce((length, part) => length + part.length, 0);
  }
  const directory = Buffer.concat(central);
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, 0x06054b50, true);
  end.setUint16(8, files.size, true);
  end.setUint16(10, files.size, true);
  end.setUint32(12, directory.length, true);
  end.setUint32(16, offset, true);
  return new Uint8Array(Buffer.concat([...local, directory, new Uint8Array(end.buffer)]));
}
