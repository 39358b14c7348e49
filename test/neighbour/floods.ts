/**
 * Queries drawn at random from the grammar of ADQL, one kind at a time: many corners, many shapes, many joins of geometry,
 * long translations. Each entry makes one query from random numbers.
 */
export type Random = () => number;

const int = (random: Random, most: number) => 1 + Math.floor(random() * most);
const list = (count: number, text: (i: number) => string, separator = ', ') =>
  Array.from({ length: count }, (_, i) => text(i)).join(separator);
const one = <T>(random: Random, of: readonly T[]): T => of[Math.floor(random() * of.length)]!;

function polygon(random: Random, corners: number, table: string | undefined): string {
  const size = 10 ** (2 * random() - 2);
  const [ra, dec] = table ? [`${table}.ra`, `${table}.dec`] : [`${360 * random()}`, `${120 * random() - 60}`];
  return `POLYGON(${list(corners, i => {
    const angle = (2 * Math.PI * i) / corners;
    return `${ra} + ${(size * Math.cos(angle)).toFixed(4)}, ${dec} + ${(size * Math.sin(angle)).toFixed(4)}`;
  })})`;
}

function shape(random: Random, table?: string): string {
  const centre = table ? `${table}.ra, ${table}.dec` : `${360 * random()}, ${180 * random() - 90}`;
  return one(random, [
    () => `CIRCLE(${centre}, ${(10 * random()).toFixed(3)})`,
    () => `BOX(${centre}, ${(5 * random() + 0.01).toFixed(3)}, ${(5 * random() + 0.01).toFixed(3)})`,
    () => polygon(random, 2 + int(random, 8), table),
  ])();
}

const from = (count: number) => list(count, i => `objects AS t${i}`);
const select = (tables: number, where: string) => `SELECT COUNT(*) FROM ${from(tables)} WHERE ${where}`;

export const KINDS_OF_FLOODS: Readonly<Record<string, (random: Random) => string>> = {
  'many corners': random => {
    const [a, b] = [2 + int(random, 198), 2 + int(random, 198)];
    const test = one(random, ['INTERSECTS', 'CONTAINS']);
    return select(2, `1 = ${test}(${polygon(random, a, 't0')}, ${polygon(random, b, one(random, ['t1', undefined]))})`);
  },
  'corners within the bounds': random => {
    const a = 2 + int(random, 30);
    return select(
      2,
      `1 = INTERSECTS(${polygon(random, a, 't0')}, ${polygon(random, Math.max(3, Math.floor(256 / a)), 't1')})`,
    );
  },
  'many shapes': random =>
    select(
      1,
      list(
        int(random, 200),
        () => `1 = CONTAINS(POINT(t0.ra, t0.dec), ${shape(random)})`,
        one(random, [' OR ', ' AND ']),
      ),
    ),
  'joins of geometry': random => {
    const tables = 1 + int(random, 5);
    return select(
      tables,
      list(tables - 1, i => `1 = CONTAINS(POINT(t${i}.ra, t${i}.dec), ${shape(random, `t${i + 1}`)})`, ' AND '),
    );
  },
  'long translations': random =>
    select(
      1,
      list(
        int(random, 40),
        () => `1 = CONTAINS(POINT(t0.ra, t0.dec), MOC(${int(random, 13)}, ${shape(random)}))`,
        ' OR ',
      ),
    ),
  'long expressions': random =>
    `SELECT ${list(int(random, 300), () => one(random, ['SIN(ra)', 'POWER(dec, 3)', 'ABS(ra - dec)', "CAST(ra AS VARCHAR) || 'x'", 'MOD(ra, 7)']))} FROM objects`,
};
