/**
 * A documentation page as a list of blocks, which can be written as Markdown or HTML. Text in a block is inline
 * Markdown: `code`, [text](url).
 */

export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3; readonly text: string }
  | { readonly kind: 'paragraph' | 'quote'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'code'; readonly text: string }
  | {
      readonly kind: 'table';
      readonly header: readonly string[];
      readonly rows: readonly (readonly string[])[];
    };

export const heading = (level: 1 | 2 | 3, text: string): Block => ({ kind: 'heading', level, text });
export const paragraph = (text: string): Block => ({ kind: 'paragraph', text });
export const quote = (text: string): Block => ({ kind: 'quote', text });
export const list = (items: readonly string[]): Block => ({ kind: 'list', items });
export const code = (text: string): Block => ({ kind: 'code', text });
export const table = (header: readonly string[], rows: readonly (readonly string[])[]): Block => ({
  kind: 'table',
  header,
  rows,
});

export function toMarkdown(blocks: readonly Block[]): string {
  return `${blocks.map(markdown).join('\n\n')}\n`;
}

function markdown(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${'#'.repeat(block.level)} ${block.text}`;
    case 'paragraph':
      return block.text;
    case 'quote':
      return `> ${block.text}`;
    case 'list':
      return block.items.map(item => `- ${item}`).join('\n');
    case 'code':
      return `\`\`\`\n${block.text}\n\`\`\``;
    case 'table':
      return [block.header, block.header.map(() => '---'), ...block.rows].map(markdownRow).join('\n');
  }
}

function markdownRow(cells: readonly string[]): string {
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

/** The content of a page. Blocks that are wider than the page can be scrolled. */
export function toHtml(blocks: readonly Block[]): string {
  return blocks.map(html).join('\n');
}

function html(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level} id="${anchor(block.text)}">${inline(block.text)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${inline(block.text)}</p>`;
    case 'quote':
      return `<blockquote><p>${inline(block.text)}</p></blockquote>`;
    case 'list':
      return `<ul>\n${block.items.map(item => `<li>${inline(item)}</li>`).join('\n')}\n</ul>`;
    case 'code':
      return `<pre tabindex="0"><code>${escapeHtml(block.text)}</code></pre>`;
    case 'table':
      return (
        '<div class="scroll" tabindex="0" role="group" aria-label="Table">' +
        `<table>\n<thead>${htmlRow('th', block.header)}</thead>\n` +
        `<tbody>\n${block.rows.map(row => htmlRow('td', row)).join('\n')}\n</tbody>\n</table></div>`
      );
  }
}

function htmlRow(tag: 'th' | 'td', cells: readonly string[]): string {
  return `<tr>${cells.map(cell => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`;
}

/** The fragment of a heading, computed like in common Markdown renderers. */
export function anchor(headingText: string): string {
  return headingText
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

function inline(text: string): string {
  return (
    escapeHtml(text)
      .replace(/`([^`]*)`/g, '<code>$1</code>')
      // Titles of catalogs come from third parties. A link in them may lead to a page, but must not run a script.
      .replace(/\[([^\]]*)\]\(((?:https?:|\/|#)\S*?)\)/g, '<a href="$2">$1</a>')
  );
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
