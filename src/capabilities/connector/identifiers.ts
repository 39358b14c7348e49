/** The names that a chat assistant may use for a transient, and the lookup for each (docs/contract.md, Connector). */
import { SentNumber, type SentValue } from '../../core/base/json_reader.ts';
import { parseTnsName, type TnsName } from '../../core/contract/tns_names.ts';
import { OBJECT_ID } from '../../core/documents/kinds.ts';

export type Identifier =
  | { readonly kind: 'diaObjectId'; readonly canonical: string }
  | { readonly kind: 'tns_name'; readonly canonical: string; readonly name: TnsName }
  | { readonly kind: 'unrecognized' | 'precision_lost' };

/** An identifier, and its first position in the caller's list. */
export type PlacedIdentifier = Identifier & { readonly position: number };

const UNRECOGNIZED: Identifier = { kind: 'unrecognized' };
/** A JSON number above this limit may be a rounded form of another integer. */
const MAX_EXACT = 2 ** 53;

/** The identifiers of the list, in its order. A repeated identifier is listed once, at its first position. */
export function classifyAll(list: readonly SentValue[]): PlacedIdentifier[] {
  const seen = new Set<string>();
  return list.flatMap((element, position) => {
    const identifier = classify(element);
    if ('canonical' in identifier) {
      const key = `${identifier.kind} ${identifier.canonical}`;
      if (seen.has(key)) return [];
      seen.add(key);
    }
    return [{ ...identifier, position }];
  });
}

function classify(element: SentValue): Identifier {
  if (typeof element === 'string') return classifyText(element.trim());
  return element instanceof SentNumber ? classifyNumber(element) : UNRECOGNIZED;
}

function classifyText(text: string): Identifier {
  if (/^\d+$/.test(text)) {
    const id = OBJECT_ID.parse(text);
    return id === undefined ? UNRECOGNIZED : { kind: 'diaObjectId', canonical: `${id}` };
  }
  const name = parseTnsName(text);
  return name ? { kind: 'tns_name', canonical: `${name.prefix ?? ''}${name.name}`, name } : UNRECOGNIZED;
}

function classifyNumber({ text, value, isInteger }: SentNumber): Identifier {
  if (value < 0) return UNRECOGNIZED;
  if (value > MAX_EXACT) return { kind: 'precision_lost' };
  if (!Number.isInteger(value)) return UNRECOGNIZED;
  // An integer above the limit may be rounded down to the limit.
  const exact = isInteger ? BigInt(text) : BigInt(value);
  return exact > MAX_EXACT ? { kind: 'precision_lost' } : { kind: 'diaObjectId', canonical: `${exact}` };
}
