/** Helpers for files that a user uploads to a page, or downloads from it. */
import { ApiError, BROKEN_OFF, errorOf, html, pageData, part } from './page.js';

/**
 * Accepts a file that the user chooses or drops.
 * @param {HTMLElement} place
 * @param {HTMLInputElement} input
 * @param {(file: File) => void} take
 */
export function fileDrop(place, input, take) {
  const first = (/** @type {FileList | null | undefined} */ files) => {
    const file = files?.[0];
    if (file) take(file);
  };
  input.addEventListener('change', () => {
    first(input.files);
    // Reset, so that the same file can be chosen again after a change.
    input.value = '';
  });
  place.addEventListener('dragover', event => {
    event.preventDefault();
    place.classList.add('over');
  });
  place.addEventListener('dragleave', () => place.classList.remove('over'));
  place.addEventListener('drop', event => {
    event.preventDefault();
    place.classList.remove('over');
    first(event.dataTransfer?.files);
  });
}

/**
 * A button for each format of tables.
 * @param {(format: string) => void} download
 * @param {{ name: string, title: string }[]} further formats besides these
 */
export function formatButtons(download, further = []) {
  return [...pageData.formats, ...further].map(
    ({ name, title }) => html`<button type="button" class="link" @click=${() => download(name)}>${title}</button> `,
  );
}

/**
 * A button for each format that saves an answer as a file.
 * @param {string} of the answer's name in the name of the file
 * @param {(format: string) => Promise<Response>} request
 * @param {{ name: string, title: string }[]} [further] formats besides the table formats
 */
export function saveButtons(of, request, further) {
  return part('', (told, tell) => {
    const download = async (/** @type {string} */ format) => {
      tell('Asking …');
      try {
        const response = await request(format);
        if (!response.ok) throw errorOf(response, await response.text());
        save(await response.blob(), fileName(of, format));
        tell('Saved.');
      } catch (error) {
        tell(error instanceof ApiError ? error.message : BROKEN_OFF);
      }
    };
    return html`
      <p class="downloads"><span class="unit">Download: </span>${formatButtons(download, further)}<span class="hint" role="status">${told}</span></p>`;
  });
}

/** The name of a file. @param {string} of @param {string} format */
export function fileName(of, format) {
  const { extension = format === 'latex' ? 'tex' : format } =
    pageData.formats.find(({ name }) => name === format) ?? {};
  return `nearsky-${of}.${extension}`;
}

/** Saves bytes as a file. @param {Blob} blob @param {string} name */
export function save(blob, name) {
  const url = URL.createObjectURL(blob);
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
