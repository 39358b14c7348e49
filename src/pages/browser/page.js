/** Shared by the scripts of all pages: the data of the page, the API, and functions that make elements. */
import { time } from './format.js';

/**
 * @typedef {Record<string, { word: string, meaning: string }>} Words
 * @typedef {import('./payload.js').CatalogData} CatalogData
 * @typedef {{ version: string | null, statuses: Words, outcomes: Words, catalogs: CatalogData[], crossmatchRadiusArcsec: number,
 *   maxRadiusArcsec: number, maxSourcesRadiusArcsec: number, maxPositions: number, maxIds: number, maxObjects: number, maxRecentPage: number, maxWindowHours: number, caveats: string[],
 *   brokers: Record<string, string>, links: { name: string, url: string, about: string }[], imageUrl: string | null }} PageData
 */

/** @type {PageData} */
export const pageData = JSON.parse(document.getElementById('page-data')?.textContent ?? '{}');

/** The API's message when it cannot answer. */
export class ApiError extends Error {
  /** @param {string} message @param {boolean} retryable @param {string} [code] that of the API */
  constructor(message, retryable, code) {
    super(message);
    this.retryable = retryable;
    this.code = code;
  }
}

/**
 * Asks the API. Integers that a number cannot hold come as bigints.
 * @param {string} path
 * @param {RequestInit} [init]
 * @returns {Promise<any>}
 * @throws ApiError with the message of the API
 */
export async function ask(path, init) {
  /** @type {Response} */
  let response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError('The service does not answer. Is the network there?', true);
  }
  const text = await response.text();
  try {
    const body = JSON.parse(text, exact);
    if (response.ok) return body;
    throw new ApiError(body.message, body.retryable);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError(`The service answered ${response.status} with something that cannot be read`, true);
  }
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

/** @typedef {Node | string | false | null | undefined | Child[]} Child */

/**
 * Makes an element. Attributes that are false or undefined are left out; functions become event listeners.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean | undefined | ((event: any) => void)>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/**
 * The same for SVG.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 * @param {...Child} children
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  setAttributes(element, attributes);
  append(element, children);
  return element;
}

/** @param {Element} element @param {Record<string, string | number | boolean | undefined | ((event: any) => void)>} attributes */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? '' : `${value}`);
  }
}

/** @param {Element} element @param {Child[]} children */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child) element.append(child);
  }
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

/**
 * Shows that something is loading.
 * @param {Element} place
 * @param {string} what
 */
export function showLoading(place, what) {
  place.setAttribute('aria-busy', 'true');
  place.replaceChildren(h('p', { class: 'loading' }, what));
}

/** @param {Element} place @param {...Child} children */
export function show(place, ...children) {
  place.removeAttribute('aria-busy');
  place.replaceChildren();
  append(place, children);
}

/**
 * Shows an error, and a button to try again if that can help.
 * @param {Element} place @param {unknown} error @param {() => void} again
 */
export function showError(place, error, again) {
  const message = error instanceof ApiError ? error.message : 'This page has a fault: its console says more.';
  if (!(error instanceof ApiError)) console.error(error);
  const retry =
    error instanceof ApiError && error.retryable && h('button', { type: 'button', click: again }, 'Try again');
  show(place, h('div', { class: 'notice error', role: 'alert' }, h('p', {}, message), retry));
}

/**
 * A button that copies a text, if the browser allows it.
 * @param {string} text
 * @param {string} what a description of the text for screen readers
 */
export function copyButton(text, what) {
  if (!navigator.clipboard) return false;
  const label = h('span', { class: 'unseen' }, ` ${what}`);
  const button = h('button', { type: 'button', class: 'small', click: () => void copy() }, 'Copy', label);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    button.replaceChildren('Copied', label);
    setTimeout(() => button.replaceChildren('Copy', label), 2000);
  };
  return button;
}

/** A time without line breaks at its hyphens. @param {string} iso */
export function moment(iso) {
  return h('span', { class: 'moment' }, time(iso));
}

/** @param {string} status of an object or of an input */
export function badge(status) {
  const { word, meaning } = pageData.statuses[status] ?? { word: status, meaning: '' };
  return h('span', { class: `badge ${status}`, title: meaning }, word);
}

/** @param {string[]} brokers their names in the API */
export function brokerTitles(brokers) {
  return brokers.map(broker => pageData.brokers[broker] ?? broker).join(', ') || '–';
}

/**
 * The display data of a catalog; undefined for a name that is not in the service.
 * @param {string | undefined} name
 */
export function catalogOf(name) {
  return pageData.catalogs.find(catalog => catalog.name === name);
}

/** @param {string} name of a catalog */
export function releaseOf(name) {
  return catalogOf(name)?.release ?? name;
}

/** @param {string} name of a catalog */
export function mark(name) {
  return h('span', { class: `mark ${name}`, 'aria-hidden': 'true' });
}

/**
 * Sentences of the API's documentation, with `code` set as code.
 * @param {string} text
 */
export function prose(text) {
  return text.split(/`([^`]*)`/).map((part, i) => (i % 2 ? h('code', {}, part) : part));
}
