/** Texts for terminals, in lines of bounded width. */

/** The widest line of a help text, in characters. */
export const HELP_WIDTH = 100;

/**
 * The words of a text in lines.
 * @param first what stands before the first line
 * @param indent what stands before the others
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
 * A text of several paragraphs in lines. A line that is indented, or begins with the name of what it is about (`add:`),
 * stays a line of its own; blank lines stay.
 */
export function wrappedText(text: string): string[] {
  return paragraphsOf(text).flatMap(paragraph => {
    const indent = /^\s*/.exec(paragraph)![0];
    return paragraph === '' ? [''] : wrapped(paragraph, indent);
  });
}

/** The paragraphs of a text, a blank one between those that a blank line parts. */
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
