/** The punctuation between the parts of an answer. */
import { fragment } from '../base/bytes.ts';

export const SEPARATOR = fragment(', ');
export const OPEN_BRACE = fragment('{');
export const BRACE = fragment('}');
export const END_OF_LIST = fragment(']');
