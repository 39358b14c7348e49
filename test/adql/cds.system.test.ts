/**
 * Mutated queries: the parser must accept or refuse them as the CDS's parser of ADQL 2.0 does, except for the rules
 * below. `TEST_ADQL_QUERIES=10000` tries that many.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AdqlError, type DescribedTable, parse, translate } from '@nearsky/adql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { EXAMPLES } from './standard.ts';

const JAR = '/usr/share/java/adql.jar';
const runsJava = () => spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0;
function why(): string | undefined {
  if (!existsSync(JAR)) return 'there is no adql.jar: apt-get install adql-java';
  return runsJava() ? undefined : 'there is no java';
}
const test = suite('adql: as the CDS');

/** Queries of ADQL 2.0 with parts that the standard's examples mostly omit. */
const OLDER_SEEDS = [
  "SELECT TOP 10 a.x, b.y AS z FROM a, b WHERE a.x > 1 AND NOT (b.y LIKE 'x%' OR b.y IS NOT NULL) ORDER BY z DESC",
  'SELECT DISTINCT x, COUNT(*), AVG(ALL y) m FROM s.t GROUP BY x HAVING COUNT(DISTINCT y) >= 2 ORDER BY 1, x ASC',
  'SELECT a.*, c.x FROM cat.sch.a AS a NATURAL LEFT OUTER JOIN b INNER JOIN c USING (x, y)',
  'SELECT 1 FROM (a JOIN b ON a.x = b.x) RIGHT JOIN c ON a.y = c.y AND c.z <> 3',
  'SELECT x FROM t WHERE a NOT BETWEEN 1 AND 2 AND b NOT IN (1, 2.5E-3, -.5) AND EXISTS (SELECT y FROM u WHERE u.a = t.a)',
  "SELECT ABS(x) * -2 + MOD(y, 3) / (z - 1), 'it''s' || w FROM t WHERE s NOT LIKE '%_' AND q != 5",
  "SELECT x FROM t WHERE 1 = CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS GEOCENTER', 10.5, -41.27, 2.5))",
  "SELECT AREA(BOX('', 1, 2, 3, 4)), COORDSYS(p), REGION('CIRCLE 1 2 3') FROM t WHERE INTERSECTS(a, b) = 0",
  'SELECT ROUND(x, -2), TRUNCATE(x), POWER(x, 2), RAND(), RAND(5), PI(), my_function(x, 1) FROM t',
  'SELECT MIN(x), MAX(x), SUM(x + 1) FROM (SELECT y AS x FROM u WHERE y > 0) AS q',
];

const SEEDS = [...EXAMPLES, ...OLDER_SEEDS];

const WORDS =
  `SELECT FROM WHERE AND OR NOT ( ) ( ) , , . * + - / = <> < >= IN LIKE BETWEEN IS NULL AS TOP DISTINCT ALL GROUP BY ORDER
  HAVING JOIN ON USING NATURAL LEFT INNER OUTER EXISTS COUNT SUM ABS POINT CIRCLE CONTAINS x t u ra 1 0 2.5 1E5 'a' "b" || DESC ASC ;`.split(
    /\s+/,
  );
const TOKEN =
  /--[^\n]*\n?|'(?:[^']|'')*'|"(?:[^"]|"")*"|[A-Za-z]\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|<>|!=|<=|>=|\|\||\S/g;

function kindOf(token: string): string {
  if (/^[a-z]/.test(token)) return 'name';
  if (/^[.\d]/.test(token)) return 'number';
  if (/^(?:SUM|COUNT|ABS|AVG|MIN|MAX|MOD|POWER)$/.test(token)) return 'function';
  if (/^(?:[-+*/<>=]|<>|!=|<=|>=)$/.test(token)) return 'operator';
  return /^(?:AND|OR|ASC|DESC|LEFT|INNER|DISTINCT|ALL)$/.test(token) ? 'word' : token;
}

function mutated(random: () => number): string {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const tokens = [...pick(random() < 0.5 ? SEEDS : OLDER_SEEDS).matchAll(TOKEN)].map(([token]) => token);
  // Half of the mutations are mild, so that they more often remain valid queries.
  if (random() < 0.5) {
    const at = Math.floor(random() * tokens.length);
    const like = WORDS.filter(word => kindOf(word) === kindOf(tokens[at]!));
    if (like.length > 0) tokens[at] = pick(like);
    return tokens.join(' ');
  }
  for (let changes = 1 + Math.floor(random() * 2); changes > 0; changes--) {
    const [at, other] = [Math.floor(random() * tokens.length), Math.floor(random() * tokens.length)];
    const kind = random();
    if (kind < 0.25) tokens.splice(at, 1);
    else if (kind < 0.45) tokens.splice(at, 1, pick(WORDS));
    else if (kind < 0.6) tokens.splice(at, 0, pick(WORDS));
    else if (kind < 0.7) tokens.splice(at, 0, tokens[at]!);
    else if (kind < 0.8) [tokens[at], tokens[other]] = [tokens[other]!, tokens[at]!];
    else if (kind < 0.9) tokens.splice(Math.min(at, other), 1 + Math.floor(random() * 4));
    else {
      const donor = [...pick(SEEDS).matchAll(TOKEN)].map(([token]) => token);
      const from = Math.floor(random() * donor.length);
      tokens.splice(at, Math.floor(random() * 4), ...donor.slice(from, from + 1 + Math.floor(random() * 6)));
    }
  }
  return tokens.join(random() < 0.95 ? ' ' : '\n');
}

const NO_SYSTEM = "''";
const FIRST_IS_TEXT = /^\s*'/;

/**
 * Writes a call of ADQL 2.1 in the form of ADQL 2.0: a shape with a coordinate system first and both coordinates of
 * each point, DISTANCE of two points. All arguments stay, so that only the form changes.
 */
function olderCall(name: string, args: readonly string[]): readonly string[] {
  const coordinates = (point: string) => [`COORD1 ( ${point} )`, `COORD2 ( ${point} )`];
  const [first = '', ...others] = args;
  if (name === 'DISTANCE' && args.length === 4)
    return [args.slice(0, 2), args.slice(2)].map(place => `POINT ( ${[NO_SYSTEM, ...place].join(' , ')} )`);
  const numbers = { POINT: 2, CIRCLE: 3, BOX: 4 }[name];
  if (numbers === args.length) return FIRST_IS_TEXT.test(first) ? args : [NO_SYSTEM, ...args];
  if ((name === 'CIRCLE' || name === 'BOX') && numbers === args.length + 1)
    return [NO_SYSTEM, ...coordinates(first), ...others];
  if (name !== 'POLYGON' || args.length < 3 || FIRST_IS_TEXT.test(first)) return args;
  const isOfNumbers = args.length >= 6 && args.length % 2 === 0 && !/^\s*(?:POINT|CENTROID)\b/i.test(first);
  return [NO_SYSTEM, ...(isOfNumbers ? args : args.flatMap(coordinates))];
}

/** The query with the shapes and distances of ADQL 2.0; undefined if it has none that differ. */
function inOlderForm(query: string): string | undefined {
  let hasNewer = false;
  const tokens = [...query.matchAll(TOKEN)].map(([token]) => token).filter(token => !token.startsWith('--'));
  let next = 0;
  const untilClosed = (): string[] => {
    const parts = [''];
    while (next < tokens.length && tokens[next] !== ')') {
      const token = tokens[next++]!;
      if (token === ',') parts.push('');
      else if (token !== '(') parts[parts.length - 1] += ` ${token}`;
      else {
        const name = tokens[next - 2]?.toUpperCase() ?? '';
        const args = untilClosed();
        const older = olderCall(name, args);
        hasNewer ||= older !== args;
        parts[parts.length - 1] += ` ( ${older.join(' , ')}${next < tokens.length ? ' )' : ''}`;
        next++;
      }
    }
    return parts.length === 1 && parts[0] === '' ? [] : parts;
  };
  const parts = untilClosed();
  return hasNewer ? [parts.join(' , '), ...tokens.slice(next)].join(' ') : undefined;
}

/** Why the query is refused; undefined if it is accepted. */
function refusal(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    if (error instanceof AdqlError) return error.message;
    throw error;
  }
}

/**
 * Tables with every column that the query names, as numbers. Numbers of arguments and kinds of values are checked
 * independently of tables.
 */
function tablesFor(query: string): DescribedTable[] {
  const names = [...new Map([...query.matchAll(/[A-Za-z]\w*/g)].map(([name]) => [name.toLowerCase(), name])).values()];
  const columns = names.map(name => ({ name, type: 'float64' as const, description: '' }));
  return names.map(name => ({ schema: 's', name, description: '', columns }));
}

/** The rule for queries that the CDS's parser accepts in the form of ADQL 2.0. */
const NEWER_FORM = 'shapes without a coordinate system, points as parts of shapes, DISTANCE of numbers';
type Rules = readonly (readonly [rule: string, pattern: RegExp])[];
/**
 * The rules by which a query beyond ADQL 2.0 is accepted here. Each pattern is tried on the query with its strings
 * emptied.
 */
const NEWER: Rules = [
  ['words of ADQL 2.1', /\b(?:WITH|UNION|EXCEPT|INTERSECT|OFFSET|CAST|ILIKE|COALESCE|LOWER|UPPER|IN_UNIT)\b/i],
  ['the operator %', /%/],
  ['NULL as a value', /(?<!IS|NOT)\s+NULL\b/i],
  ['a sign after a sign', /[-+]\s*[-+]/],
  ['a query in parentheses', /\(\s*\(\s*SELECT|^\s*\(/i],
  ['expressions in GROUP BY and ORDER BY', /\b(?:GROUP|ORDER) BY\b/i],
];
/** The rules by which a query is refused here that is valid in ADQL 2.0, or that the CDS's parser accepts. */
const OLDER: Rules = [
  ['texts beside one another, which are one in SQL-92', /''\s+''/],
  ['something after a semicolon, which is passed over there', /;\s*\S/],
  ['words that ADQL 2.1 has reserved', /\b(?:CAST|COALESCE|ILIKE|IN_UNIT|LOWER|OFFSET|UPPER)\b/i],
];
const UNKNOWN = /is no (?:column|table)|there is no table|is a column of several|must be in GROUP BY|have the name/;

/** Asks the parser of the CDS. The answer to each query is `1` where the parser accepts it, else `0` and the reason. */
function askCds(queries: readonly string[]): string[] {
  const input = queries.map(query => Buffer.from(query).toString('base64')).join('\n');
  const program = fileURLToPath(new URL('./oracle/CdsParser.java', import.meta.url));
  const { stdout, stderr, status } = spawnSync('java', ['-cp', JAR, program], {
    input: `${input}\n`,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  assert.is(status, 0, stderr);
  const said = stdout.trimEnd().split('\n');
  assert.is(said.length, queries.length);
  return said;
}

needs(test, why())('queries are accepted or refused as by the parser of the CDS', () => {
  const random = seededRandom(Number(process.env.TEST_ADQL_SEED ?? 1));
  const count = Number(process.env.TEST_ADQL_QUERIES ?? 500);
  const queries = Array.from({ length: count }, () => mutated(random));
  const said = askCds(queries);
  const older = queries.map(inOlderForm);
  const saidOfOlder = askCds(older.map(each => each ?? ''));
  const found: string[] = [];
  const ruled = new Map<string, number>();
  let agreed = 0;
  for (const [i, query] of queries.entries()) {
    const isTheirs = said[i] === '1';
    const refused = refusal(() => parse(query));
    if (refused !== undefined ? !isTheirs : isTheirs) {
      agreed++;
      continue;
    }
    const text = query.replaceAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|--.*/g, "''");
    const later = refused === undefined ? refusal(() => translate(query, tablesFor(query), 1)) : undefined;
    const isLater = later !== undefined && !UNKNOWN.test(later);
    const isOfForm = refused === undefined && saidOfOlder[i] === '1';
    const rule = (refused === undefined ? NEWER : OLDER).find(([, pattern]) => pattern.test(text))?.[0];
    const kind = isOfForm
      ? NEWER_FORM
      : isLater
        ? 'refused beside its tables'
        : (rule ?? (later && 'a name that is unknown is told first'));
    if (kind) ruled.set(kind, (ruled.get(kind) ?? 0) + 1);
    else
      found.push(
        `${refused === undefined ? 'accepted' : `refused: ${refused}`}: ${query.replaceAll('\n', ' ')} (CDS: ${said[i]!.slice(0, 150)})`,
      );
  }
  console.log(`${count} queries, ${agreed} alike, ${found.length} differ`, ruled);
  assert.is(found.length, 0, found.slice(0, 40).join('\n'));
  assert.ok(said.filter(each => each === '1').length > count / 10);
});

/** The coordinate systems of ADQL 2.0 (TAP 1.0, section 6) that mean ICRS, or no stated frame. */
const ICRS_SYSTEMS = ['', ' ', 'ICRS', ' icrs ', 'UNKNOWNFRAME', 'ICRS GEOCENTER', 'ICRS BARYCENTER SPHERICAL2'];
const OTHER_SYSTEMS = ['FK4', 'FK5', 'GALACTIC', 'ECLIPTIC', 'J2000', 'a', 'ICRSX', 'ICRS FOO', 'ICRS CARTESIAN2'];

needs(test, why())('where a shape has a coordinate system, it may be any text there, and ICRS alone here', () => {
  const shapes = ['POINT(?, 1, 2)', 'CIRCLE(?, 1, 2, 3)', 'BOX(?, 1, 2, 3, 4)', 'POLYGON(?, 1, 2, 3, 4, 5, 6)'];
  const made = (systems: readonly string[]) =>
    systems.flatMap(system => shapes.map(shape => `SELECT COORDSYS(${shape.replace('?', `'${system}'`)}) FROM t`));
  const [icrs, others] = [made(ICRS_SYSTEMS), made(OTHER_SYSTEMS)];
  const said = askCds([...icrs, ...others]);
  assert.ok(said.every(each => each === '1'));
  for (const query of icrs)
    assert.is(
      refusal(() => translate(query, tablesFor(query), 1)),
      undefined,
      query,
    );
  for (const query of others)
    assert.match(`${refusal(() => translate(query, tablesFor(query), 1))}`, /^positions are in ICRS/, query);
});

test.run();
