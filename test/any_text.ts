import fc from 'fast-check';

const codePoint = fc.oneof(
  fc.integer({ min: 0, max: 0x7f }),
  fc.integer({ min: 0x80, max: 0xd7ff }),
  fc.integer({ min: 0xe000, max: 0x10ffff }),
);

/** Texts of any code points. fast-check's own, with the unit `binary`, takes seconds to build a table of all of them. */
export function anyText(constraints: Pick<fc.ArrayConstraints, 'minLength' | 'maxLength'> = {}): fc.Arbitrary<string> {
  return fc.array(codePoint, constraints).map(points => String.fromCodePoint(...points));
}
