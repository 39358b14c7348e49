/** A reader of VOTables for tests: of our own documents in TABLEDATA, and no others. */

function unescaped(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };
  return text.replace(/&(?:#x([0-9a-f]+)|(\w+));/g, (_, code, name) =>
    name ? named[name]! : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

/** The cells of a document, as text; null for an empty one. */
export function dataCells(xml: string): (string | null)[][] {
  const data = /<TABLEDATA>\n([\s\S]*)<\/TABLEDATA>/.exec(xml)![1]!;
  return data
    .split('\n')
    .filter(line => line !== '')
    .map(line =>
      [...line.matchAll(/<TD>([^<>]*)<\/TD>|<TD\/>/g)].map(([, text]) => (text === undefined ? null : unescaped(text))),
    );
}

export interface Field {
  readonly name: string;
  readonly datatype: string;
  readonly ucd: string | undefined;
  readonly unit: string | undefined;
}

export function fieldsOf(xml: string): Field[] {
  return [...xml.matchAll(/<FIELD ([^>]*)>/g)].map(([, attributes]) => {
    const value = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes!)?.[1];
    return { name: value('name')!, datatype: value('datatype')!, ucd: value('ucd'), unit: value('unit') };
  });
}

/** The rows, by the names of their fields. */
export function rowsOf(xml: string): Record<string, string | null>[] {
  const fields = fieldsOf(xml);
  return dataCells(xml).map(cells => Object.fromEntries(fields.map(({ name }, i) => [name, cells[i]!])));
}

/** The values of the INFO elements of a name, in their order. */
export function infosOf(xml: string, name: string): string[] {
  return [...xml.matchAll(/<INFO [^>]*?name="([^"]*)" value="([^"]*)"/g)].flatMap(([, each, value]) =>
    each === name ? unescaped(value!) : [],
  );
}
