/** Queries that are valid ADQL, and the messages for those that are not. */

import { AdqlError, parse, placedMessage } from '@nearsky/adql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EXAMPLES } from './standard.ts';

const test = suite('adql: parser');

function refusal(query: string): string {
  try {
    parse(query);
  } catch (error) {
    if (error instanceof AdqlError) return placedMessage(query, error);
    throw error;
  }
  throw new Error(`accepted: ${query.slice(0, 200)}`);
}

/** A query for each rule of the grammar that the standard's examples leave out. */
const QUERIES = [
  ...EXAMPLES,
  'SELECT id FROM table1 EXCEPT ALL SELECT id FROM table2;',
  "SELECT * FROM a WHERE 1 = CONTAINS(POINT('ICRS', a.ra, a.dec), CIRCLE('ICRS', 10.68, 41.27, 2.5))",
  'SELECT a.*, b.x FROM cat.sch.a AS a NATURAL LEFT OUTER JOIN b',
  'SELECT 1 FROM (a JOIN b ON a.x = b.x) RIGHT JOIN c USING (x, y)',
  'SELECT 1 FROM ((SELECT x FROM a) AS q FULL JOIN b ON q.x = b.x)',
  'SELECT 1 FROM ((SELECT x FROM a)) AS q',
  'SELECT 1 FROM ((SELECT x FROM a) UNION (SELECT x FROM b)) q',
  'SELECT DISTINCT TOP 3 "a b", "say ""hi""" AS "dec" FROM t',
  "SELECT CAST('3.14159265358979323846' AS DOUBLE PRECISION), CAST(a AS VARCHAR(3)), CAST(a AS CHAR) FROM t",
  "SELECT COALESCE(a, 2, 'x''y'), -+-3, 1.5E-3, .5, 5., (a || b) FROM t",
  'SELECT COUNT(*), COUNT(DISTINCT x), SUM(ALL x) FROM t GROUP BY y, z + 1 HAVING COUNT(*) > 1 OFFSET 10',
  "SELECT x FROM t WHERE NOT a = 1 AND (b <> 2 OR c != 3) AND d NOT LIKE 'x%' AND e ILIKE 'y_' AND f IS NOT NULL",
  'SELECT x FROM t WHERE a NOT BETWEEN 1 AND 2 AND b NOT IN (1, 2) AND NOT EXISTS (SELECT y FROM u WHERE u.a = t.a)',
  'SELECT my_function(), ROUND(x, -2) FROM t ORDER BY 1 DESC, x + 1',
  "SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END, CASE a WHEN 1 THEN TRUE END FROM t",
];

test('queries of the standard, and of each of its rules, are read', () => {
  for (const query of QUERIES) assert.is(parse(query).kind, 'query', query);
});

test('a refusal names the place, what was expected and what stands there', () => {
  const refused: readonly (readonly [query: string, message: string])[] = [
    ['', 'Line 1, column 1: SELECT was expected where the query ends'],
    ['SELECT a', 'Line 1, column 9: FROM was expected where the query ends'],
    ['SELECT a\nFROM t WERE x = 1', 'Line 2, column 13: the end of the query was expected where x stands'],
    ['SELECT a\r\nFROM t\r\nWHERE', 'Line 3, column 6: a value was expected where the query ends'],
    ['SELECT a, FROM t', 'Line 1, column 11: a value was expected where FROM stands'],
    ['SELECT (a FROM t', 'Line 1, column 11: ) was expected where FROM stands'],
    [
      'SELECT size FROM t',
      'Line 1, column 8: a value was expected where size stands: size is a reserved word: write "size" for a name',
    ],
    [
      'SELECT a AS size FROM t',
      'Line 1, column 13: the name of a column was expected where size stands: size is a reserved word: write "size" for a name',
    ],
    ["SELECT 'a FROM t", 'Line 1, column 8: this string has no end: close it with a single quote'],
    ['SELECT "a FROM t', 'Line 1, column 8: this name has no end: close it with a double quote'],
    ['SELECT _a FROM t', 'Line 1, column 8: a name that does not begin with a letter must be in double quotes'],
    [
      'SELECT 1a FROM t',
      'Line 1, column 8: a number ends before its next letter: put a space after 1, or correct the number',
    ],
    ['SELECT a FROM t WHERE a = [1]', 'Line 1, column 27: the character "[" (U+005B) has no meaning here'],
    ['SELECT a\u00a0FROM t', 'Line 1, column 9: the character "\u00a0" (U+00A0) has no meaning here'],
    [
      'SELECT a FROM t WHERE a = \u{1f600}',
      'Line 1, column 27: the character "\u{1f600}" (U+1F600) has no meaning here',
    ],
    ['SELECT a /* x */ FROM t', 'Line 1, column 11: a value was expected where * stands'],
    ['SELECT a FROM (SELECT b FROM t)', 'Line 1, column 32: a name for this query was expected where the query ends'],
    ['SELECT a FROM t JOIN u', 'Line 1, column 23: ON or USING was expected where the query ends'],
    ['SELECT TOP 1.5 a FROM t', 'Line 1, column 12: the number of rows was expected where 1.5 stands'],
    [
      'SELECT a FROM t WHERE b = (SELECT c FROM u)',
      'Line 1, column 27: a subquery is not a value: it is allowed in FROM, after IN and after EXISTS',
    ],
    ['SELECT ON(a) FROM t', 'Line 1, column 8: a value was expected where ON stands'],
    ['SELECT a FROM t; DROP TABLE t', 'Line 1, column 18: the end of the query was expected where DROP stands'],
    ['COPY t TO x', 'Line 1, column 1: SELECT was expected where COPY stands'],
    ['INSTALL httpfs', 'Line 1, column 1: SELECT was expected where INSTALL stands'],
    ["ATTACH 'x.db'", 'Line 1, column 1: SELECT was expected where ATTACH stands'],
    ["SELECT a FROM 'x.csv'", "Line 1, column 15: the name of a table was expected where 'x.csv' stands"],
    ["SELECT a FROM read_csv('x.csv')", 'Line 1, column 23: the end of the query was expected where ( stands'],
    ['SELECT a::int FROM t', 'Line 1, column 9: the character ":" (U+003A) has no meaning here'],
    ['SELECT a FROM t WHERE a = $1', 'Line 1, column 27: the character "$" (U+0024) has no meaning here'],
    ['WITH q AS (SELECT a FROM t) DELETE FROM t', 'Line 1, column 29: SELECT was expected where DELETE stands'],
  ];
  for (const [query, message] of refused) assert.is(refusal(query), message);
});

test('the depth and the length of a query are bounded, and no stack overflows', () => {
  const deep = [
    (n: number) => `SELECT ${'('.repeat(n)}1${')'.repeat(n)} FROM t`,
    (n: number) => `SELECT 1 FROM ${'('.repeat(n)}SELECT`,
    (n: number) => `${'('.repeat(n)}SELECT 1 FROM t${')'.repeat(n)}`,
    (n: number) => `SELECT a FROM t WHERE ${'NOT '.repeat(n)} a = 1`,
    (n: number) => `SELECT ${'-'.repeat(2 * n).replaceAll('--', '- ')}1 FROM t`,
    (n: number) => `SELECT 1${' + 1'.repeat(n)} FROM t`,
    (n: number) => `SELECT ${'ABS('.repeat(n)}1${')'.repeat(n)} FROM t`,
    (n: number) => `SELECT 1 FROM t ${'UNION SELECT 1 FROM t '.repeat(n)}`,
    (n: number) => `SELECT 1 FROM t ${'NATURAL JOIN t '.repeat(n)}`,
    (n: number) => `SELECT ${'CASE WHEN a = '.repeat(n)} 1`,
    (n: number) => `SELECT 1 FROM ${'(SELECT * FROM ('.repeat(n)}`,
  ];
  for (const query of deep) {
    assert.match(refusal(query(1000)), /nested more than 200 levels deep|at most 20000 words/);
    assert.match(refusal(query(100_000)), /nested more than 200 levels deep|at most 20000 words/);
  }
  assert.is(
    parse(`SELECT a FROM t WHERE ${Array.from({ length: 2000 }, (_, i) => `a = ${i}`).join(' OR ')}`).kind,
    'query',
  );
  assert.is(parse(`SELECT a FROM t WHERE a IN (${Array.from({ length: 5000 }, (_, i) => i).join()})`).kind, 'query');
});

test.run();
