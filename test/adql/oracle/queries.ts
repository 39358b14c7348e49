/**
 * Seeded queries, each in ADQL and in PostgreSQL's SQL with q3c and pgsphere. Both are written side by side from the
 * random choices, without the translation under test. If PostgreSQL fails where the service answers NULL, as for a
 * division by 0, the second query has NULL.
 */
import { seededRandom } from '../../oracle/skies.ts';

type Kind = 'int' | 'float' | 'text' | 'time';

/** A part of a query in both languages. */
interface Both {
  readonly adql: string;
  readonly sql: string;
}

interface Named extends Both {
  readonly kind: Kind | 'boolean';
}

interface From extends Both {
  readonly columns: readonly Named[];
  /** Expressions that order the rows uniquely. */
  readonly keys: readonly Both[];
  readonly places: readonly (readonly [ra: Both, dec: Both])[];
}

export interface OracleQuery extends Both {
  readonly isOrdered: boolean;
}

const OBJECTS: readonly (readonly [name: string, kind: Named['kind']])[] = [
  ['diaObjectId', 'int'],
  ['ra', 'float'],
  ['dec', 'float'],
  ['reliability', 'float'],
  ['mag', 'float'],
  ['n', 'int'],
  ['ingest_time', 'time'],
  ['status', 'text'],
  ['label', 'text'],
  ['tns_checked', 'boolean'],
];
const MATCHES: typeof OBJECTS = [
  ['diaObjectId', 'int'],
  ['ra', 'float'],
  ['dec', 'float'],
  ['place', 'int'],
  ['catalog_name', 'text'],
  ['separation', 'float'],
  ['size', 'int'],
];
const TEXTS = ['abc', 'ABC', '', 'matched', 'gaia_dr3', "it's", 'a\\c', '100%', 'É'];
const PATTERNS = ['a%', '%C', '_b_', '%\\%', 'A\\_C', '%', '', "%'%", 'É_', '%a%a%', '100\\%', 'gaia_DR_'];
const TIMES = ['2026-01-03', '2026-01-04T06:00:00', '2026-01-05T12:00:00.5', '2026-01-02T00:00:00Z'];
const CENTRES = [
  [0, 0.5],
  [360, 0],
  [359.95, -0.5],
  [10, 89.95],
  [77, 90],
  [200, -89.95],
  [150.1, 2.2],
  [123.456, -90],
] as const;

const radians = (angle: number) => (angle * Math.PI) / 180;
const degrees = (angle: number) => Number(((angle * 180) / Math.PI).toFixed(7));
const same = (text: string): Both => ({ adql: text, sql: text });
const text = (value: string) => same(`'${value.replaceAll("'", "''")}'`);
/** A string of both languages, in which each {0}, {1} stands for a part. */
function both(adql: string, sql: string, ...parts: readonly Both[]): Both {
  const fill = (pattern: string, of: keyof Both) => pattern.replaceAll(/\{(\d)\}/g, (_, i) => parts[Number(i)]![of]);
  return { adql: fill(adql, 'adql'), sql: fill(sql, 'sql') };
}
const alike = (pattern: string, ...parts: readonly Both[]) => both(pattern, pattern, ...parts);
const listed = (parts: readonly Both[], separator = ', '): Both => ({
  adql: parts.map(each => each.adql).join(separator),
  sql: parts.map(each => each.sql).join(separator),
});

export class Queries {
  readonly #random: () => number;
  #names = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!;
  }

  #is(share: number): boolean {
    return this.#random() < share;
  }

  #int(low: number, high: number): number {
    return low + Math.floor(this.#random() * (high - low + 1));
  }

  next(): OracleQuery {
    const kind = this.#random();
    if (kind < 0.15) return this.#set();
    if (kind < 0.25) return this.#with();
    return this.#select(undefined, 2);
  }

  // Values

  #column(scope: From, kind: Named['kind']): Both | undefined {
    const fit = scope.columns.filter(each => each.kind === kind);
    return fit.length > 0 ? this.#pick(fit) : undefined;
  }

  #value(kind: Kind, scope: From, depth: number): Both {
    if (depth <= 0 || this.#is(0.3)) return (this.#is(0.75) && this.#column(scope, kind)) || this.#literal(kind);
    const own = (of: Kind = kind) => this.#value(of, scope, depth - 1);
    if (this.#is(0.15)) {
      const when = this.#condition(scope, depth - 1);
      return this.#is(0.5)
        ? alike('CASE WHEN {0} THEN {1} ELSE {2} END', when, own(), own())
        : alike('CASE {0} WHEN {1} THEN {2} WHEN {3} THEN {4} END', own('int'), own('int'), own(), own('int'), own());
    }
    if (this.#is(0.1)) return alike('COALESCE({0}, {1})', own(), own());
    if (this.#is(0.05)) return alike('NULLIF({0}, {1})', own(), own());
    if (kind === 'int') return this.#integer(scope, depth - 1);
    if (kind === 'float') return this.#float(scope, depth - 1);
    if (kind === 'time') return own();
    return this.#text(scope, depth - 1);
  }

  #literal(kind: Kind): Both {
    if (kind === 'int') return same(this.#is(0.1) ? '170055002004914007' : `${this.#int(0, 9)}`);
    if (kind === 'text') return text(this.#pick(TEXTS));
    if (kind === 'time') return alike('CAST({0} AS TIMESTAMP)', text(this.#pick(TIMES)));
    const number = this.#pick(['0.5', '2.', '.25', '1.5E0', '3e-1', '10.0', `${this.#random()}`]);
    return both(number, `float8 '${number}'`);
  }

  #integer(scope: From, depth: number): Both {
    const own = () => this.#value('int', scope, depth);
    const [a, b] = [own(), own()];
    return this.#pick([
      () => alike('({0} + {1})', a, b),
      () => alike('({0} - {1})', a, b),
      () => alike('{0} - {1} - {2}', a, b, own()),
      () => alike('(MOD({0}, 1000) * {1})', a, same(`${this.#int(-9, 9)}`)),
      () => both('({0} / ({1}))', '({0} / NULLIF({1}, 0))', a, b),
      () => both('MOD({0}, {1})', 'mod({0}, NULLIF({1}, 0))', a, b),
      () => alike('ABS({0})', a),
      () => alike('-{0}', this.#column(scope, 'int') ?? same('7')),
      () => both('CAST({0} AS BIGINT)', 'CAST({0} AS BIGINT)', this.#value('float', scope, depth)),
      () => alike('CAST(CAST({0} AS VARCHAR) AS BIGINT)', a),
      () => alike('CAST({0} AS INTEGER)', same(`'${this.#int(-50, 50)}'`)),
    ])();
  }

  #float(scope: From, depth: number): Both {
    const own = () => this.#value('float', scope, depth);
    const [a, b] = [own(), own()];
    const number = () =>
      this.#is(0.5) ? a : both('MOD({0}, 1000)', 'mod({0}, 1000)::float8', this.#value('int', scope, depth));
    const places = this.#int(-1, 3);
    const small = `${this.#int(-2, 3)}`;
    return this.#pick([
      () => alike('({0} + {1})', a, b),
      () => alike('({0} - {1})', a, b),
      () => alike('({0} * {1})', a, b),
      () => both('({0} / ({1}))', '({0} / NULLIF({1}, 0))', a, b),
      () => both('({0} / ({1}))', '({0} / NULLIF(({1})::float8, 0))', a, this.#value('int', scope, depth)),
      () => both('MOD({0}, 0.5)', 'mod(({0})::numeric, 0.5)::float8', this.#column(scope, 'float') ?? a),
      () => both('LOG({0})', '(CASE WHEN {0} > 0 THEN ln({0}) END)', number()),
      () => both('LOG10({0})', '(CASE WHEN {0} > 0 THEN log({0}) END)', number()),
      () => both('SQRT({0})', '(CASE WHEN {0} >= 0 THEN sqrt({0}) END)', number()),
      () => both('ACOS({0})', '(CASE WHEN {0} BETWEEN -1 AND 1 THEN acos({0}) END)', number()),
      () => both('ASIN({0})', '(CASE WHEN {0} BETWEEN -1 AND 1 THEN asin({0}) END)', number()),
      () => both(`POWER(ABS({0}) + 1, ${small})`, `power(abs({0}) + 1, float8 '${small}')`, number()),
      () => both('POWER({0}, 0.5)', '(CASE WHEN {0} >= 0 THEN sqrt({0}) END)', number()),
      () => alike('EXP(SIN({0}))', number()),
      () => alike('ATAN2({0}, {1})', number(), b),
      () => alike('DEGREES(ATAN({0}))', number()),
      () => alike('RADIANS({0})', number()),
      () => alike('COS({0})', number()),
      () => both('COT(ATAN({0}) + 2)', 'cot(atan({0}) + 2)', number()),
      () => alike('FLOOR({0})', number()),
      () => alike('CEILING({0})', number()),
      () => both('ROUND({0})', 'round(({0})::numeric)::float8', number()),
      () => both(`ROUND({0}, ${places})`, `round(({0})::numeric, ${places})::float8`, number()),
      () => both('TRUNCATE({0})', 'trunc({0})', number()),
      () => both(`TRUNCATE({0}, ${places})`, `trunc(({0})::numeric, ${places})::float8`, number()),
      () => alike('ABS({0})', a),
      () => alike('-({0})', a),
      () => alike('PI()'),
      () => alike('CAST(MOD({0}, 1000) AS DOUBLE PRECISION)', this.#value('int', scope, depth)),
      () => this.#distance(scope),
      () =>
        both(
          'AREA(CIRCLE({0}, {1}, {2}))',
          'degrees(degrees(2 * pi() * (1 - cos(radians({2})))))',
          ...this.#centre(),
          same(this.#pick(['10.0', '90.0', '180.0'])),
        ),
      () => {
        const [ra] = this.#place(scope);
        return both("IN_UNIT({0}, 'arcmin')", '({0} * 60)', ra);
      },
      () => {
        const [ra, dec] = this.#place(scope);
        return this.#is(0.5)
          ? both('COORD1(POINT({0}, {1}))', '{0}', ra, dec)
          : both("COORD2(POINT('ICRS', {0}, {1}))", '{1}', ra, dec);
      },
    ])();
  }

  #text(scope: From, depth: number): Both {
    const own = () => this.#value('text', scope, depth);
    return this.#pick([
      () => alike('LOWER({0})', own()),
      () => alike('UPPER({0})', own()),
      () => alike('({0} || {1})', own(), own()),
      () => alike("{0} || '-' || {1}", own(), own()),
      () => alike('CAST({0} AS VARCHAR)', this.#value('int', scope, depth)),
      () =>
        both(
          `CAST({0} AS VARCHAR({1}))`,
          'substr(({0})::text, 1, {1})',
          this.#value(this.#is(0.5) ? 'int' : 'text', scope, depth),
          same(`${this.#int(1, 4)}`),
        ),
    ])();
  }

  // Places and shapes

  #place(scope: From): readonly [Both, Both] {
    return this.#pick(scope.places);
  }

  #centre(): [Both, Both] {
    const [ra, dec] = this.#pick(CENTRES);
    return [same(`${ra}`), same(`${dec}`)];
  }

  #distance(scope: From): Both {
    const [ra, dec] = this.#place(scope);
    const [a, d] = this.#is(0.6) ? this.#centre() : this.#place(scope);
    const pattern = this.#is(0.5) ? 'DISTANCE({0}, {1}, {2}, {3})' : 'DISTANCE(POINT({0}, {1}), POINT({2}, {3}))';
    return both(pattern, 'q3c_dist({0}, {1}, {2}, {3})', ra, dec, a, d);
  }

  /** A condition that has the value NULL where the position is NULL. */
  #inside(scope: From): Both {
    const [ra, dec] = this.#place(scope);
    const [a, d] = this.#centre();
    const radius = same(this.#pick(['0', '0.0001', '0.05', '0.2', '1', '30.5', '89.5', '179.5', '180']));
    const other = same(this.#pick(['0.1', '0.01', '40', '120']));
    const [x, y] = this.#place(scope);
    const number = (each: Both): Both => ({ adql: each.adql, sql: `(${each.sql})::float8` });
    const [call, test] = this.#pick([
      () => ["CONTAINS(POINT('ICRS', {0}, {1}), CIRCLE('ICRS', {2}, {3}, {4}))", 'q3c_dist({0}, {1}, {2}, {3}) <= {4}'],
      () => ['CONTAINS(POINT({0}, {1}), CIRCLE(POINT({2}, {3}), {4}))', 'q3c_dist({0}, {1}, {2}, {3}) <= {4}'],
      () => ['INTERSECTS(CIRCLE({2}, {3}, {4}), POINT({0}, {1}))', 'q3c_dist({0}, {1}, {2}, {3}) <= {4}'],
      () => ['CONTAINS(POINT({0}, {1}), CIRCLE({6}, {7}, {4}))', 'q3c_dist({0}, {1}, {6}, {7}) <= {4}'],
      () => ['CONTAINS(POINT({2}, {3}), CIRCLE({0}, {1}, {4}))', 'q3c_dist({0}, {1}, {2}, {3}) <= {4}'],
      () => ['INTERSECTS(CIRCLE({0}, {1}, {5}), CIRCLE({2}, {3}, {4}))', 'q3c_dist({0}, {1}, {2}, {3}) <= {4} + {5}'],
      () => [
        'CONTAINS(CIRCLE({0}, {1}, {5}), CIRCLE({2}, {3}, {4}))',
        '(q3c_dist({0}, {1}, {2}, {3}) <= {4} - {5} OR {0} + {4} >= {0} + 180)',
      ],
      () => this.#polygon(),
      () => this.#box(),
      () => this.#regions(),
      () => this.#regions(),
    ])() as [string, string];
    const is = this.#int(0, 1);
    const sql = is === 1 ? `(${test})` : `(NOT (${test}))`;
    const adql = this.#is(0.5) ? `${is} = ${call}` : `${call} = ${is}`;
    return both(
      adql,
      sql,
      number(ra),
      number(dec),
      number(a),
      number(d),
      number(radius),
      number(other),
      number(x),
      number(y),
    );
  }

  /** The polygon of the parallels and meridians of some corners, in this order around a centre. */
  #spherePolygon(corners: readonly (readonly [number, number])[]): string {
    const list = corners.map(([ra, dec]) => `(${((ra % 360) + 360) % 360}d, ${dec}d)`).join(', ');
    return `(spoint(radians({0}), radians({1})) <@ spoly '{${list}}')`;
  }

  /** Corners around a centre, in their order or the other. */
  #around(ra: number, dec: number, reach: number, count: number): [number, number][] {
    const turn = this.#random();
    const [a, d] = [radians(ra), radians(dec)];
    const corners = Array.from({ length: count }, (_, i): [number, number] => {
      // A corner at that angle and distance from the centre.
      const [angle, far] = [(2 * Math.PI * (i + turn)) / count, radians(reach * (0.6 + 0.4 * this.#random()))];
      const [east, north] = [Math.sin(angle) * Math.sin(far), Math.cos(angle) * Math.sin(far)];
      const out = Math.cos(d) * Math.cos(far) - Math.sin(d) * north;
      const [x, y] = [Math.cos(a) * out - Math.sin(a) * east, Math.sin(a) * out + Math.cos(a) * east];
      const z = Math.sin(d) * Math.cos(far) + Math.cos(d) * north;
      return [degrees((Math.atan2(y, x) + 2 * Math.PI) % (2 * Math.PI)), degrees(Math.asin(z))];
    });
    return this.#is(0.5) ? corners.reverse() : corners;
  }

  #polygon(): [string, string] {
    const [ra, dec] = this.#pick(CENTRES);
    const corners = this.#around(ra, dec, this.#pick([0.05, 0.15, 5]), this.#int(3, 6));
    const list = corners.map(([a, d]) => `${a}, ${d}`).join(', ');
    return [`CONTAINS(POINT({0}, {1}), POLYGON('ICRS', ${list}))`, this.#spherePolygon(corners)];
  }

  /** Circles and polygons within one another, with constants and with the positions {0}, {1} and {6}, {7}. */
  #regions(): [string, string] {
    const corners = (
      [
        ['{0}', '0.999 * {1}'],
        ['{0} + 3', '0.999 * {1}'],
        ['{0} + 1.5', '0.99 * {1} + 0.5'],
      ] as const
    ).map(([ra, dec]) => ({ ra, dec }));
    const own = `POLYGON(${corners.map(({ ra, dec }) => `${ra}, ${dec}`).join(', ')})`;
    const theirs = corners
      .map(({ ra, dec }) => `'(' || (${ra})::text || 'd,' || (${dec})::text || 'd)'`)
      .join(" || ',' || ");
    const ofRow = `(('{' || ${theirs} || '}')::spoly)`;
    const [ra, dec] = this.#pick(CENTRES);
    const reach = this.#pick([0.05, 0.3, 4, 25]);
    const list = this.#around(ra, dec, reach, this.#int(3, 6));
    const constant = `POLYGON(${list.map(each => each.join(', ')).join(', ')})`;
    const spoly = `(spoly '{${list.map(([a, d]) => `(${a}d, ${d}d)`).join(', ')}}')`;
    const radius = this.#pick(['0.01', '0.2', '3', '40', '89']);
    const circle = `CIRCLE({0}, {1}, ${radius})`;
    const scircle = `scircle(spoint(radians({0}), radians({1})), radians(${radius}))`;
    const made: readonly (() => [string, string])[] = [
      () => [`INTERSECTS(${circle}, ${constant})`, `(${scircle} && ${spoly})`],
      () => [`INTERSECTS(${constant}, ${circle})`, `(${scircle} && ${spoly})`],
      () => [`CONTAINS(${circle}, ${constant})`, `(${scircle} <@ ${spoly})`],
      () => [`CONTAINS(${constant}, ${circle})`, `(${spoly} <@ ${scircle})`],
      () => [`CONTAINS(POINT({6}, {7}), ${own})`, `(spoint(radians({6}), radians({7})) <@ ${ofRow})`],
      () => [`INTERSECTS(${own}, ${constant})`, `(${ofRow} && ${spoly})`],
      () => [`CONTAINS(${own}, ${constant})`, `(${ofRow} <@ ${spoly})`],
      () => [`CONTAINS(${constant}, ${own})`, `(${spoly} <@ ${ofRow})`],
    ];
    return this.#pick(made)();
  }

  #box(): [string, string] {
    const [ra, dec] = this.#pick(CENTRES.filter(([, each]) => Math.abs(each) < 80));
    const [width, height] = [this.#pick([0.1, 0.3, 20]), this.#pick([0.1, 0.3, 7])];
    const [west, east, south, north] = [ra - width / 2, ra + width / 2, dec - height / 2, dec + height / 2];
    const corners = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
    ] as const;
    return [`CONTAINS(POINT({0}, {1}), BOX(${ra}, ${dec}, ${width}, ${height}))`, this.#spherePolygon(corners)];
  }

  // Conditions

  #condition(scope: From, depth: number): Both {
    if (depth > 0 && this.#is(0.4)) {
      const [a, b] = [this.#condition(scope, depth - 1), this.#condition(scope, depth - 1)];
      return this.#pick([
        () => alike('({0} AND {1})', a, b),
        () => alike('({0} OR {1})', a, b),
        () => alike('({0} OR {1} AND {2})', a, b, this.#condition(scope, depth - 1)),
        () => alike('NOT ({0})', a),
        () => alike('(NOT {0} AND {1})', a, b),
      ])();
    }
    const kind = this.#pick(['int', 'float', 'text', 'time'] as const);
    const own = () => this.#value(kind, scope, Math.min(depth, 1));
    const not = this.#is(0.4) ? ' NOT' : '';
    return this.#pick([
      () => alike(`{0} ${this.#pick(['=', '<>', '!=', '<', '>', '<=', '>='])} {1}`, own(), own()),
      () => alike(`{0}${not} BETWEEN {1} AND {2}`, own(), own(), own()),
      () =>
        alike(
          `{0}${not} IN ({1})`,
          own(),
          listed(Array.from({ length: this.#int(1, 4) }, () => (this.#is(0.1) ? same('NULL') : own()))),
        ),
      () => alike(`{0} IS${not} NULL`, this.#column(scope, this.#pick(['int', 'float', 'text'])) ?? own()),
      () => this.#like(scope, not),
      () => this.#inside(scope),
      () => this.#inside(scope),
      () => this.#near(scope),
      () =>
        alike(
          `{0} ${this.#pick(['<', '>='])} '${this.#pick(TIMES)}'`,
          this.#column(scope, 'time') ?? alike("CAST('2026-01-03' AS TIMESTAMP)"),
        ),
      () => this.#checked(scope),
      () => (depth > 0 ? this.#inQuery(scope, not) : alike('{0} > {1}', own(), own())),
      () => (depth > 0 ? this.#exists(scope, not) : alike('{0} < {1}', own(), own())),
    ])();
  }

  #like(scope: From, not: string): Both {
    const operator = this.#pick(['LIKE', 'ILIKE']);
    const pattern = this.#is(0.9) ? text(this.#pick(PATTERNS)) : this.#value('text', scope, 0);
    const sql = operator === 'ILIKE' ? `lower({0})${not} LIKE lower({1}) ESCAPE ''` : `{0}${not} LIKE {1} ESCAPE ''`;
    return both(`{0}${not} ${operator} {1}`, `(${sql})`, this.#value('text', scope, 1), pattern);
  }

  #near(scope: From): Both {
    const radius = this.#pick(['0.01', '0.3', '60', '180']);
    return alike(`{0} ${this.#pick(['<', '<=', '>', '>='])} ${radius}`, this.#distance(scope));
  }

  #checked(scope: From): Both {
    const column = this.#column(scope, 'boolean');
    if (!column) return same('1 = 1');
    return both(`{0} = ${this.#pick(['TRUE', "'true'", '1'])}`, '{0} = TRUE', column);
  }

  #inQuery(scope: From, not: string): Both {
    const kind = this.#pick(['int', 'text', 'float'] as const);
    const inner = this.#from(1);
    const value = this.#value(kind, inner, 1);
    return alike(
      `{0}${not} IN (SELECT {1} FROM {2} WHERE {3})`,
      this.#value(kind, scope, 1),
      value,
      inner,
      this.#condition(inner, 0),
    );
  }

  #exists(scope: From, not: string): Both {
    const inner = this.#from(1);
    const kind = this.#pick(['int', 'text', 'float'] as const);
    const correlated = alike('{0} = {1}', this.#value(kind, inner, 0), this.#value(kind, scope, 0));
    return alike(`${not} EXISTS (SELECT 1 FROM {0} WHERE {1} AND {2})`, inner, correlated, this.#condition(inner, 0));
  }

  // Tables

  /** @param most the maximum number of tables */
  #from(most: number): From {
    const kind = most < 2 ? 0 : this.#random();
    if (kind < 0.45) return this.#table(this.#pick(['objects', 'matches']));
    if (kind < 0.55) return this.#derived();
    const [a, b] = [this.#table('objects'), this.#table(this.#is(0.8) ? 'matches' : 'objects')];
    const joined = (both: Both): From => ({
      ...both,
      columns: [...a.columns, ...b.columns],
      keys: [...a.keys, ...b.keys],
      places: [...a.places, ...b.places],
    });
    const type = this.#pick(['', 'INNER ', 'LEFT ', 'LEFT OUTER ', 'RIGHT ', 'FULL ']);
    const id = (of: From) => of.columns.find(({ adql }) => /diaobjectid/i.test(adql))!;
    if (kind < 0.65) {
      const [[ra, dec], [x, y]] = [a.places[0]!, b.places[0]!];
      const distance = this.#pick(['0.01', '0.05', '0.3']);
      const test = this.#pick([
        `CONTAINS(POINT({2}, {3}), CIRCLE({4}, {5}, ${distance})) = 1`,
        `DISTANCE({2}, {3}, {4}, {5}) <= ${distance}`,
      ]);
      const [kept] = type.startsWith('FULL') ? [''] : [type];
      return joined(
        both(
          `{0} ${kept}JOIN {1} ON ${test}`,
          `{0} ${kept}JOIN {1} ON q3c_dist({2}, {3}, {4}, {5}) <= ${distance}`,
          a,
          b,
          ra,
          dec,
          x,
          y,
        ),
      );
    }
    if (kind < 0.72) return joined(alike('{0}, {1}', a, b));
    if (kind < 0.8) return joined(alike(`{0} ${type}JOIN {1} USING (diaObjectId)`, a, b));
    if (kind < 0.84) return joined(alike(`{0} NATURAL ${type}JOIN {1}`, a, b));
    if (kind < 0.9) return joined(alike(`({0} ${type}JOIN {1} ON {2} = {3})`, a, b, id(a), id(b)));
    const condition = this.#condition(joined(same('')), 0);
    return joined(alike(`{0} ${type}JOIN {1} ON {2} = {3} AND {4}`, a, b, id(a), id(b), condition));
  }

  #table(name: 'objects' | 'matches'): From {
    const alias = `t${++this.#names}`;
    const spelled = this.#pick([name, `nearsky.${name}`, `NearSky.${name.toUpperCase()}`, `nearsky."${name}"`]);
    const columns = (name === 'objects' ? OBJECTS : MATCHES).map(([column, kind]): Named => {
      const quoted = column === 'size' || this.#is(0.1) ? `"${column}"` : this.#is(0.2) ? column.toUpperCase() : column;
      const sql = `${alias}.${column.toLowerCase()}`;
      const wide = kind === 'int' ? `${sql}::bigint` : kind === 'float' ? `${sql}::float8` : sql;
      return { kind, adql: `${alias}.${quoted}`, sql: `(${wide})` };
    });
    const named = (column: string) =>
      columns.find(({ adql }) => adql.toLowerCase().replaceAll('"', '').endsWith(`.${column}`))!;
    const keys = [named('diaobjectid'), ...(name === 'matches' ? [named('place')] : [])];
    const adql = `${spelled}${this.#is(0.5) ? ' AS' : ''} ${alias}`;
    return { adql, sql: `nearsky.${name} AS ${alias}`, columns, keys, places: [[named('ra'), named('dec')]] };
  }

  /** A query in FROM, whose columns have their own names. */
  #derived(): From {
    const of = this.#from(1);
    const alias = `"D ${++this.#names}"`;
    const inner = [...of.columns, this.#named(this.#value('float', of, 1), 'float')];
    const items = inner.map((each, i) => alike(`{0} AS "C${i}"`, each));
    const condition = this.#is(0.7) ? alike(' WHERE {0}', this.#condition(of, 1)) : same('');
    const columns = inner.map(({ kind }, i): Named => ({ kind, ...same(`${alias}."C${i}"`) }));
    const at = (each: Both) => columns[inner.findIndex(({ adql }) => adql === each.adql)]!;
    return {
      ...alike(`(SELECT {0} FROM {1}{2}) AS ${alias}`, listed(items), of, condition),
      columns,
      keys: of.keys.map(at),
      places: of.places.map(([ra, dec]) => [at(ra), at(dec)] as const),
    };
  }

  #named(of: Both, kind: Kind): Named {
    return { ...of, kind };
  }

  // Queries

  #anyKind(): Kind {
    return this.#pick(['int', 'int', 'float', 'float', 'text', 'time'] as const);
  }

  /** @param kinds the kinds of the columns, if they matter */
  #select(kinds: readonly Kind[] | undefined, tables: number, isPart = false): OracleQuery {
    const from = this.#from(tables);
    const where = this.#is(0.7) ? alike(' WHERE {0}', this.#condition(from, 2)) : same('');
    if (!kinds && this.#is(0.3)) return this.#grouped(from, where);
    const own = kinds ?? Array.from({ length: this.#int(1, 4) }, () => this.#anyKind());
    const quantifier = this.#pick(['', '', 'ALL ', 'DISTINCT ']);
    const isDistinct = quantifier === 'DISTINCT ';
    const items = own.map(kind => (isDistinct ? this.#distinguishable(kind, from, 2) : this.#value(kind, from, 2)));
    const shown = items.map((each, i) => (this.#is(0.3) ? alike(`{0} AS "select ${i}"`, each) : each));
    if (isPart || this.#is(0.4))
      return { ...alike(`SELECT ${quantifier}{0} FROM {1}{2}`, listed(shown), from, where), isOrdered: false };
    const terms = isDistinct
      ? own.map((_, i) => same(`${i + 1}`))
      : [...this.#ofRows([this.#distinguishable(this.#anyKind(), from, 1)]), ...from.keys];
    return { ...this.#ordered(quantifier, shown, alike('{0}{1}', from, where), terms), isOrdered: true };
  }

  /**
   * A value that both languages sort alike: numbers that differ only in their last bits become equal, on a scale with
   * no simple number halfway between two steps.
   */
  #distinguishable(kind: Kind, scope: From, depth: number): Both {
    const value = this.#value(kind, scope, depth);
    if (kind !== 'float') return value;
    return both('ROUND(({0}) * 0.7310585786300049, 6)', "(round(({0}) * float8 '731058.5786300049') / 1e6)", value);
  }

  /** Expressions that differ between rows; neither language sorts or groups by the others. */
  #ofRows(values: readonly Both[]): readonly Both[] {
    return values.filter(({ adql }) => /t\d|"D/.test(adql));
  }

  #ordered(quantifier: string, items: readonly Both[], rest: Both, terms: readonly Both[]): Both {
    const directed = terms.map(term => {
      const direction = this.#pick(['', ' ASC', ' DESC']);
      return both(`{0}${direction}`, `{0}${direction} NULLS LAST`, term);
    });
    const top = this.#is(0.5) ? this.#int(0, 30) : undefined;
    const offset = this.#is(0.3) ? ` OFFSET ${this.#int(0, 12)}` : '';
    const first = top === undefined ? '' : `TOP ${top} `;
    const limit = top === undefined ? '' : ` LIMIT ${top}`;
    return both(
      `SELECT ${quantifier}${first}{0} FROM {1} ORDER BY {2}${offset}`,
      `SELECT ${quantifier}{0} FROM {1} ORDER BY {2}${limit}${offset}`,
      listed(items),
      rest,
      listed(directed),
    );
  }

  #aggregate(from: From): Both {
    const of = (kind: Kind) => this.#value(kind, from, 1);
    const quantifier = this.#pick(['', '', 'DISTINCT ', 'ALL ']);
    return this.#pick([
      () => same('COUNT(*)'),
      () => alike(`COUNT(${quantifier}{0})`, of(this.#anyKind())),
      () =>
        both(
          `SUM(${quantifier}{0})`,
          `SUM(${quantifier}({0})::bigint)::bigint`,
          alike('MOD({0}, 7)', this.#column(from, 'int') ?? same('1')),
        ),
      () => alike('SUM({0})', of('float')),
      () => both('AVG({0})', 'AVG(({0})::float8)', alike('MOD({0}, 7)', this.#column(from, 'int') ?? same('1'))),
      () => alike(`${this.#pick(['MIN', 'MAX'])}({0})`, of(this.#anyKind())),
      () =>
        both(
          "IVO_STRING_AGG({0}, ', ')",
          "string_agg({0}, ', ' ORDER BY {0})",
          this.#column(from, 'text') ?? same("'x'"),
        ),
    ])();
  }

  #grouped(from: From, where: Both): OracleQuery {
    const groups = this.#ofRows(
      Array.from({ length: this.#int(0, 2) }, () => {
        const kind = this.#pick(['int', 'text', 'time'] as const);
        return this.#is(0.6) ? (this.#column(from, kind) ?? this.#column(from, 'int')!) : this.#value(kind, from, 1);
      }),
    );
    const items = [...groups, ...Array.from({ length: this.#int(1, 3) }, () => this.#aggregate(from))];
    const having = this.#is(0.4) ? alike(' HAVING {0} > {1}', alike('COUNT(*)'), same(`${this.#int(0, 3)}`)) : same('');
    const by = groups.length > 0 ? alike(' GROUP BY {0}', listed(groups)) : same('');
    const rest = alike('{0}{1}{2}{3}', from, where, by, having);
    if (groups.length === 0 || this.#is(0.4))
      return { ...alike('SELECT {0} FROM {1}', listed(items), rest), isOrdered: false };
    return { ...this.#ordered('', items, rest, groups), isOrdered: true };
  }

  #set(): OracleQuery {
    const kinds = Array.from({ length: this.#int(1, 2) }, () => this.#pick(['int', 'text', 'int', 'time'] as const));
    const part = () => this.#select(kinds, 1, true);
    const operator = () => ` ${this.#pick(['UNION', 'EXCEPT', 'INTERSECT'])}${this.#is(0.3) ? ' ALL' : ''} `;
    const whole = this.#is(0.5)
      ? alike(`{0}${operator()}{1}${operator()}{2}`, part(), part(), part())
      : alike(`{0}${operator()}({1})`, part(), this.#is(0.5) ? part() : alike(`{0}${operator()}{1}`, part(), part()));
    if (this.#is(0.5)) return { ...whole, isOrdered: false };
    const adql = kinds.map((_, i) => `${i + 1}`);
    const offset = this.#is(0.5) ? ` OFFSET ${this.#int(0, 5)}` : '';
    return {
      adql: `${whole.adql} ORDER BY ${adql.join(', ')}${offset}`,
      sql: `${whole.sql} ORDER BY ${adql.map(each => `${each} NULLS LAST`).join(', ')}${offset}`,
      isOrdered: true,
    };
  }

  #with(): OracleQuery {
    const of = this.#from(1);
    const name = this.#pick(['near', '"Near"']);
    const items = of.columns.map((each, i) => alike(`{0} AS c${i}`, each));
    const condition = this.#is(0.7) ? alike(' WHERE {0}', this.#condition(of, 1)) : same('');
    const columns = of.columns.map(({ kind }, i): Named => ({ kind, ...same(`a.c${i}`) }));
    const i = of.columns.findIndex(({ kind }) => kind === 'int');
    const scope: From = {
      ...same(`${name} AS a JOIN ${name} b ON a.c${i} = b.c${i}`),
      columns,
      keys: [],
      places: of.places.map(
        ([ra, dec]) =>
          [ra, dec].map(each => columns[of.columns.findIndex(({ adql }) => adql === each.adql)]!) as [Named, Named],
      ),
    };
    return {
      ...alike(
        `WITH ${name} AS (SELECT {0} FROM {1}{2}) SELECT {3}, COUNT(*) FROM {4} WHERE {5} GROUP BY {3}`,
        listed(items),
        of,
        condition,
        columns[i]!,
        scope,
        this.#condition(scope, 1),
      ),
      isOrdered: false,
    };
  }
}
