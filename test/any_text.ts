import fc from 'fast-check';

const between = (min: number, max: number) =>
  fc.integer({ min, max }).map(
    point => String.fromCodePoint(point),
    text => {
      if (typeof text !== 'string' || [...text].length !== 1) throw new Error('not one code point');
      return text.codePointAt(0)!;
    },
  );
const unit = fc.oneof(between(0, 0x7f), between(0x80, 0xd7ff), between(0xe000, 0x10ffff));

/** Texts of any code points but surrogates. fast-check's unit `binary` takes seconds to build its table of them. */
export function anyText(constraints: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ unit, ...constraints });
}
