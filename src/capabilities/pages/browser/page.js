/** Code that all pages share: the data of the page, the API, and templates. */
import { time } from './format.js';
import * as lit from './lit-html.js';

/**
 * @typedef {Record<string, { word: string, meaning: string }>} Words
 * @typedef {import('./payload.js').CatalogData} CatalogData
 * @typedef {{ version: string | null, statuses: Words, outcomes: Words, catalogs: CatalogData[], crossmatchRadiusArcsec: number,
 *   maxRadiusArcsec: number, maxSourcesRadiusArcsec: number, maxPositions: number, maxIds: number, maxObjects: number, maxRecentPage: number, maxWindowHours: number, caveats: string[],
 *   brokers: Record<string, string>, links: { name: string, url: string, about: string }[], imageUrl: string | null,
 *   formats: { name: string, title: string, extension: string }[] }} PageData
 */

/** @type {PageData} */
export const pageData = JSON.parse(document.getElementById('page-data')?.textContent ?? '{}');

/** The error with the API's message. */
export class ApiError extends Error {
  /** @param {string} message @param {boolean} retryable @param {string} [code] the API's error code */
  constructor(message, retryable, code) {
    super(message);
    this.retryable = retryable;
    this.code = code;
  }
}

/**
 * Sends a request to the API. Integers that a number cannot represent become bigints.
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<any>}
 * @throws ApiError with the message of the API
 */
export async function ask(path, init) {
  /** @type {Response | undefined} */
  let response;
  let text;
  try {
    response = await fetch(path, init);
    text = await response.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(response ? BROKEN_OFF : 'The service does not answer. Is the network there?', true);
  }
  if (!response.ok) throw errorOf(response, text);
  try {
    return JSON.parse(text, exact);
  } catch {
    throw errorOf(response, '');
  }
}

/** The message about an answer that ended too early. */
export const BROKEN_OFF = 'The answer broke off: try again.';

/**
 * The error of an answer: the API's, or another one if the answer is not from the service, such as a proxy's.
 * @param {Response} response @param {string} text of the answer
 */
export function errorOf({ status }, text) {
  try {
    const { message, retryable, code } = JSON.parse(text);
    if (typeof message === 'string') return new ApiError(message, retryable, code);
  } catch {
    // It is not from the API.
  }
  return new ApiError(`The service answered ${status} with something that cannot be read`, true);
}

/** @param {object} body */
export function asJson(body) {
  return { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/**
 * A reviver for JSON.parse that keeps integers that a number cannot represent.
 * @param {string} _key
 * @param {unknown} value
 * @param {{ source?: string }} [context]
 */
export function exact(_key, value, context) {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** @typedef {import('./lit-html.js').TemplateResult | Node | string | number | false | null | undefined | Child[]} Child */

/** An HTML template that escapes values. False and undefined show nothing, and omit an attribute. */
export const html = templates(lit.html);
/** The same for content inside an SVG. */
export const svg = templates(lit.svg);

/** @param {(strings: TemplateStringsArray, ...values: unknown[]) => import('./lit-html.js').TemplateResult} tag */
function templates(tag) {
  return (/** @type {TemplateStringsArray} */ strings, /** @type {unknown[]} */ ...values) =>
    tag(strings, ...values.map(shown));
}

/** @param {unknown} value @returns {unknown} */
function shown(value) {
  if (Array.isArray(value)) return value.map(shown);
  return value === false || value === undefined ? lit.nothing : value;
}

/**
 * A part of a page with its own state. `content` draws it, at first and after each change of the state.
 * @template State
 * @param {State} first
 * @param {(state: State, change: (next: State) => void) => Child} content
 */
export function part(first, content) {
  const place = document.createDocumentFragment();
  const renderBefore = place.appendChild(document.createComment(''));
  const change = (/** @type {State} */ state) => {
    // A part that was removed from the page cannot be drawn.
    if (renderBefore.parentNode) lit.render(shown(content(state, change)), place, { renderBefore });
  };
  change(first);
  return place;
}

/**
 * The element with an id.
 * @param {string} id
 * @throws Error if the page has no such element
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`The page has no element ${id}`);
  return element;
}

/** The elements whose content is a template. @type {WeakSet<Element>} */
const filled = new WeakSet();

/** @param {Element} place @param {Child} [content] */
export function show(place, content) {
  place.removeAttribute('aria-busy');
  // A template would be added to the server's content instead of replacing it.
  if (!filled.has(place)) place.replaceChildren();
  filled.add(place);
  lit.render(shown(content), /** @type {HTMLElement} */ (place));
}

/**
 * Shows that something is loading.
 * @param {Element} place
 * @param {string} what
 */
export function showLoading(place, what) {
  show(place, html`<p class="loading">${what}</p>`);
  place.setAttribute('aria-busy', 'true');
}

/**
 * Shows an error, and a button to try again if that can help.
 * @param {Element} place @param {unknown} error @param {() => void} again
 */
export function showError(place, error, again) {
  show(place, errorNotice(error, again));
}

/** @param {unknown} error @param {() => void} again */
export function errorNotice(error, again) {
  const isAnswer = error instanceof ApiError;
  if (!isAnswer) console.error(error);
  const message = isAnswer ? error.message : 'This page has a fault: its console says more.';
  const retry = isAnswer && error.retryable && html`<button type="button" @click=${again}>Try again</button>`;
  return html`<div class="notice error" role="alert"><p>${message}</p>${retry}</div>`;
}

/**
 * A button that copies a text, if the browser allows it.
 * @param {string} text
 * @param {string} what a description of the text for screen readers
 */
export function copyButton(text, what) {
  if (!navigator.clipboard) return false;
  const copy = async (/** @type {any} */ { currentTarget: { firstChild: word } }) => {
    await navigator.clipboard.writeText(text);
    word.data = 'Copied';
    setTimeout(() => (word.data = 'Copy'), 2000);
  };
  return html`<button type="button" class="small" @click=${copy}>Copy<span class="unseen"> ${what}</span></button>`;
}

/** A button that is disabled while it loads more. @param {() => Promise<void>} load */
export function moreButton(load) {
  const click = async (/** @type {any} */ { target }) => {
    target.disabled = true;
    await load();
    target.disabled = false;
  };
  return html`<button type="button" @click=${click}>Show more</button>`;
}

/** A time without line breaks at its hyphens. @param {string} iso */
export function moment(iso) {
  return html`<span class="moment">${time(iso)}</span>`;
}

/** @param {string} status of an object or of an input */
export function badge(status) {
  const { word, meaning } = pageData.statuses[status] ?? { word: status, meaning: '' };
  return html`<span class="badge ${status}" title=${meaning}>${word}</span>`;
}

/** @param {string[]} brokers their names in the API */
export function brokerTitles(brokers) {
  return brokers.map(broker => pageData.brokers[broker] ?? broker).join(', ') || '–';
}

/**
 * The display data of a catalog; undefined if the service does not have it.
 * @param {string | undefined} name
 */
export function catalogOf(name) {
  return pageData.catalogs.find(catalog => catalog.name === name);
}

/** @param {string} name of a catalog */
export function releaseOf(name) {
  return catalogOf(name)?.release ?? name;
}

/**
 * The release in which a match was found, or the present release of the catalog if it is not recorded.
 * @param {any} match
 */
export function foundIn({ catalog_name, catalog_release }) {
  return catalog_release ?? releaseOf(catalog_name);
}

/** @param {string} name of a catalog */
export function mark(name) {
  return html`<span class="mark ${name}" aria-hidden="true"></span>`;
}

/**
 * Sentences from the API's documentation, with `code` formatted as code.
 * @param {string} text
 */
export function prose(text) {
  return text.split(/`([^`]*)`/).map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
}
