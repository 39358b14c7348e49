/** Writes XML text in ASCII: other characters become character references. */

const PLAIN = /^[ !#-%'-;=?-~]*$/;
/**
 * Characters that must be escaped, or that XML 1.0 does not allow (section 2.2: control characters, lone surrogates,
 * U+FFFE, U+FFFF).
 */
const SPECIAL = /[^ !#-%'-;=?-~]/gu;

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const REPLACEMENT = '&#xfffd;';

/** Escapes text for content and for attributes in double quotes. A character that XML does not allow becomes U+FFFD. */
export function escapeXml(text: string): string {
  return PLAIN.test(text) ? text : text.replace(SPECIAL, escapeCharacter);
}

function escapeCharacter(character: string): string {
  const named = NAMED[character];
  if (named) return named;
  const code = character.codePointAt(0)!;
  return isXmlCharacter(code) ? `&#x${code.toString(16)};` : REPLACEMENT;
}

/** XML 1.0, section 2.2, production 2. */
function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code < 0xd800 || (code > 0xdfff && code !== 0xfffe && code !== 0xffff);
}
