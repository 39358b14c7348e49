/** Wraps strings for terminals to lines of limited width. */

/** The widest line of a help text, in characters. */
const HELP_WIDTH = 100;

/**
 * Wraps the words of a text.
 * @param first the beginning of the first line
 * @param indent the beginning of the other lines
 */
export function wrapped(text: string, first = '', indent = first): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(/\s+/).filter(each => each !== '')) {
    if (!isEmpty && line.length + 1 + word.length > HELP_WIDTH) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

/**
 * Wraps a text of several paragraphs. A line that is indented, or begins with a label (`add:`), is not joined with
 * others; blank lines stay.
 */
export function wrappedText(text: string): string[] {
  return paragraphsOf(text).flatMap(paragraph => {
    const indent = /^\s*/.exec(paragraph)![0];
    return paragraph === '' ? [''] : wrapped(paragraph, indent);
  });
}

/** The paragraphs of a text. Each blank line between them is an empty paragraph. */
export function paragraphsOf(text: string): string[] {
  const found: string[] = [];
  let isOpen = false;
  for (const line of text.split('\n')) {
    const joins = isOpen && line !== '' && !/^(?:\s|[a-z]+: )/.test(line);
    if (joins) found.push(`${found.pop()} ${line}`);
    else found.push(line);
    isOpen = line !== '' && !/^\s/.test(line);
  }
  return found;
}
