/** The examples of ADQL 2.1 (IVOA recommendation of 2023-12-15): its queries as they stand, and its fragments in the shortest query that they fit. */

const QUERIES = [
  `SELECT alpha_source.id FROM alpha_source WHERE alpha_sourceid >=5
     AND alpha_sourceid IN ( SELECT id FROM alpha_source WHERE id < 10 )`,
  `SELECT alpha_source.id FROM alpha_source, ( SELECT alpha_source.id FROM alpha_source WHERE id < 10 ) AS subsample
   WHERE alpha_source.id >=5 AND alpha_source.id = subsample.id`,
  `WITH subsample AS ( SELECT alpha_source.id FROM alpha_source WHERE id < 10 )
   SELECT alpha_source.id FROM alpha_source INNER JOIN subsample USING(id) WHERE alpha_source.id >= 5`,
  `SELECT ra, dec FROM ( SELECT * FROM alpha_source WHERE id % 10 = 0 ) AS alpha_subset WHERE ra > 10 AND ra < 20`,
  `WITH alpha_subset AS ( SELECT * FROM alpha_source WHERE id % 10 = 0 )
   SELECT ra, dec FROM alpha_subset WHERE ra > 10 AND ra < 20`,
  'SELECT id, ra, dec FROM table1 UNION SELECT id, ra, dec FROM table2 ORDER BY id -- sort the UNION result',
  `-- take the 10 first
   (SELECT TOP 10 id, ra, dec FROM atable ORDER BY id ASC)
   UNION
   -- take the 10 last
   (SELECT TOP 10 id, ra, dec FROM atable ORDER BY id DESC)`,
  `WITH tenFirst AS (SELECT TOP 10 id, ra, dec FROM atable ORDER BY id ASC),
        tenLast  AS (SELECT TOP 10 id, ra, dec FROM atable ORDER BY id DESC)
   SELECT * FROM tenFirst UNION SELECT * FROM tenLast`,
  'SELECT id, ra, dec FROM table1 UNION SELECT id, ra, dec FROM table2 INTERSECT SELECT id, ra, dec FROM table3',
  'SELECT id, ra, dec FROM table1 UNION ( SELECT id, ra, dec FROM table2 INTERSECT SELECT id, ra, dec FROM table3 )',
];

const VALUES = [
  'alpha',
  '"alpha"',
  `'Earth''s satellite is the Moon.'`,
  'AREA(POLYGON(10.0, -10.5, 20.0, 20.5, 30.0, 30.5))',
  'AREA(t1.footprint)',
  'CONTAINS(POINT(25.0, -19.5), CIRCLE(25.4, -20.0, 10.0))',
  'COORD1(POINT(25.0, -19.5))',
  'COORD1(t.center)',
  'COORD2(POINT(25.0, -19.5))',
  'COORD2(t.center)',
  'COORDSYS(POINT(25.0, -19.5))',
  'COORDSYS(t.footprint)',
  'DISTANCE(POINT(25.0, -19.5), POINT(25.4, -20.0))',
  'DISTANCE(25.0, -19.5, 25.4, -20.0)',
  'DISTANCE(t1.base, t2.target)',
  'INTERSECTS(CIRCLE(25.4, -20.0, 1), POLYGON(20.0, -15.0, 20.0, -5.0, 10.0, -5.0, 10.0, -15.0))',
  'wfau_align()',
  'gavo_convert()',
  'ivo_hashlist_has()',
  'ivo_string_agg()',
  "LOWER('Francis Albert Augustus Charles Emmanuel')",
  "UPPER('Francis Albert Augustus Charles Emmanuel')",
  'CAST(3 AS REAL)',
  "CAST('3.14159265358979323846' AS DOUBLE PRECISION)",
  "CAST('2021-01-14T11:25:00' AS TIMESTAMP)",
  "COALESCE(access_url, '')",
  "IN_UNIT(ra, 'arcmin')  -- OK",
  "IN_UNIT(ra, '')          -- ERROR: Conversion into a 'unitless'",
  "IN_UNIT(40+2, 'deg')     -- ERROR: idem",
  "IN_UNIT(sqrt(power(pm_ra,2)+power(pm_dec,2)), 'rad/yr') -- OK",
];

const SHAPES = [
  'POINT(12.3, 45.6)',
  'POINT(t.ra, t.dec)',
  'CIRCLE(12.3, 45.6, 0.5)',
  'CIRCLE(POINT(25.4, -20.0), 10.0)',
  'CIRCLE(t1.center, t1.radius)',
  'POLYGON(10.0, -10.5, 20.0, 20.5, 30.0, 30.5)',
  'POLYGON(t1.ra    , t1.dec + 5, t1.ra - 5, t1.dec - 5, t1.ra - 5, t1.dec + 5)',
  'POLYGON(t2.toppoint, t2.bottomleft, t2.bottomright)',
  'BOX(25.4, -20.0, 10.0, 10.0)',
  'BOX(POINT(25.4, -20.0), 10.0, 10.0)',
  'BOX(t1.center, t1.width, t1.height)',
  'CENTROID(POLYGON(10.0, -10.5, 20.0, 20.5, 30.0, 30.5))',
  'CENTROID(t1.footprint)',
  "CAST('12.3 45.6' AS POINT)",
  "CAST('12.3 45.6 1.0' AS CIRCLE)",
  "CAST('1.0 0.1 2.0 0.2 3.0 0.3' AS POLYGON)",
];

const CONDITIONS = [
  "obstime > CAST('2015-01-01' AS TIMESTAMP)",
  "obstime BETWEEN CAST('2014-01-01' AS TIMESTAMP) AND CAST('2014-01-02' AS TIMESTAMP)",
  '1 = CONTAINS(POINT(25.0, -19.5), CIRCLE(25.4, -20.0, 10.0))',
  '0 = CONTAINS(POINT(25.0, -19.5), CIRCLE(25.4, -20.0, 10.0))',
  '0 = CONTAINS(t1.center, t2.footprint)',
  '1 = INTERSECTS(CIRCLE(25.4, -20.0, 1), POLYGON(20.0, -15.0, 20.0, -5.0, 10.0, -5.0, 10.0, -15.0))',
  '0 = INTERSECTS(t1.target, t2.footprint)',
  'DISTANCE(t.pos, POINT(10.68, 41.27)) <= 2.5',
  "'Francis'  LIKE 'francis'",
  "'Francis' ILIKE 'francis'",
];

export const EXAMPLES: readonly string[] = [
  ...QUERIES,
  ...[...VALUES, ...SHAPES].map(value => `SELECT ${value}\n FROM t`),
  ...CONDITIONS.map(condition => `SELECT * FROM t WHERE ${condition}`),
  'SELECT * FROM t1 JOIN t2 ON DISTANCE(t1.ra, t1.dec, t2.ra, t2.dec) < 0.00027',
];
