/** Suggestions for error messages: the ADQL for words that ADQL lacks, and names close to an unknown one. */

const TIME = "write a time as '2026-01-31T12:00:00'";

/** For words of other query languages, in upper case. */
const INSTEAD: Readonly<Record<string, string>> = {
  LIMIT: 'ADQL has no LIMIT: write TOP and the number after SELECT',
  CROSS: 'ADQL has no CROSS JOIN: put a comma between the tables',
  NOW: TIME,
  GETDATE: TIME,
  SYSDATE: TIME,
  TODAY: TIME,
  CURRENT_TIMESTAMP: TIME,
  CURRENT_TIME: TIME,
  CURRENT_DATE: TIME,
  INTERVAL: `the difference of two times is in days: ${TIME}`,
  LN: 'the natural logarithm is LOG',
  MEAN: 'the mean is AVG',
  STD: 'the standard deviation is STDDEV',
  CEIL: 'write CEILING',
  POW: 'write POWER',
  SUBSTR: 'write SUBSTRING',
  IFNULL: 'write COALESCE',
};

/** The ADQL for a word of another language, after a colon; empty if it is unknown. */
export function instead(word: string): string {
  return Object.hasOwn(INSTEAD, word) ? `: ${INSTEAD[word]}` : '';
}

/** For numbers that are compared with times. */
export const TIME_HINT = `: ${TIME}, or compare its ivo_to_mjd(...) with a number`;

/** Words that are a part of every query, so that nobody means them as names. */
const STRUCTURE = new Set(
  'SELECT FROM WHERE GROUP ORDER BY HAVING ON USING AS AND OR NOT IN IS BETWEEN LIKE JOIN UNION EXCEPT INTERSECT TOP DISTINCT WHEN THEN ELSE END'.split(
    ' ',
  ),
);

/** How to write a reserved word where a name was expected. */
export function reservedHint(text: string): string {
  const word = text.toUpperCase();
  return instead(word) || (STRUCTURE.has(word) ? '' : `: ${text} is a reserved word: write "${text}" for a name`);
}

/** No longer name is compared with others. */
const MAX_LENGTH = 128;

/** The name that is closest to an unknown one, as a question; empty if none is close. */
export function nearest(unknown: string, names: Iterable<string>): string {
  if (unknown.length > MAX_LENGTH) return '';
  const own = unknown.toLowerCase();
  let best = { name: '', distance: Math.ceil(own.length / 3) + 1 };
  for (const name of names) {
    const distance = distanceOf(own, name.toLowerCase(), best.distance);
    if (distance < best.distance) best = { name, distance };
  }
  return best.name === '' ? '' : `: did you mean ${best.name}?`;
}

/** The number of characters to insert, remove or replace; at least `most` if it is not less. */
function distanceOf(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) >= most) return most;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, character] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++)
      next.push(Math.min(row[j + 1]! + 1, next[j]! + 1, row[j]! + (b[j] === character ? 0 : 1)));
    row = next;
  }
  return row.at(-1)!;
}
