/** Java-style properties text, the format of `hats.properties`, `properties` and `collection.properties`. */

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

/**
 * The keys and values of a properties text, by the rules of java.util.Properties: `#` and `!` comments, `=`, `:` or
 * blank between key and value, a backslash before the end of a line to continue it, `\uXXXX`, and any other escaped
 * character as itself. The last of equal keys wins.
 */
export function parseProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>();
  for (const line of logicalLines(text)) {
    const match = /^((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)$/su.exec(line);
    if (match?.[1]) properties.set(unescaped(match[1]), unescaped(match[2] ?? ''));
  }
  return properties;
}

/** Lines without comments and blanks, with continued lines joined. */
function* logicalLines(text: string): Generator<string> {
  let joined: string | undefined;
  for (const natural of text.split(/\r\n|\r|\n/)) {
    const line = natural.trimStart();
    if (joined === undefined && (line === '' || line.startsWith('#') || line.startsWith('!'))) continue;
    const continues = (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;
    joined = (joined ?? '') + (continues ? line.slice(0, -1) : line);
    if (continues) continue;
    yield joined;
    joined = undefined;
  }
  if (joined !== undefined) yield joined;
}

function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gsu, (_, hex?: string, character?: string) =>
    hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (ESCAPES[character ?? ''] ?? character ?? ''),
  );
}

export type Properties = Readonly<Record<string, string | number>>;

/**
 * Properties as text, after a comment.
 * @param properties keys and values without characters that would have to be escaped
 */
export function propertiesText(comment: string, properties: Properties): string {
  const lines = Object.entries(properties).map(([key, value]) => `${key}=${value}\n`);
  return `#${comment}\n${lines.join('')}`;
}
