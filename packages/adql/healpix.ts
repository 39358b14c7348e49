/** HEALPix pixels of any position, and their centres (Górski et al., ApJ 622, 759, 2005), as `index/healpix.ts` computes them. */

/** Spreads 29 bits over every second bit of 58, and the inverse. */
const spread = (v: string) =>
  [
    [16, '281470681808895'],
    [8, '71777214294589695'],
    [4, '1085102592571150095'],
    [2, '3689348814741910323'],
    [1, '6148914691236517205'],
  ].reduce((bits, [shift, mask]) => `((${bits} | (${bits} << ${shift})) & ${mask})`, v);
const compressed = (v: string) =>
  [
    [1, '3689348814741910323'],
    [2, '1085102592571150095'],
    [4, '71777214294589695'],
    [8, '281470681808895'],
    [16, '4294967295'],
  ].reduce((bits, [shift, mask]) => `((${bits} | (${bits} >> ${shift})) & ${mask})`, `(${v} & 6148914691236517205)`);

const CELL = (part: string) => `CAST(least(greatest(floor(${part} * 536870912), 0), 536870911) AS BIGINT)`;

export const HEALPIX_MACROS: readonly string[] = [
  // All pixels are of order 29. A position lies in one of twelve faces. Right ascension is in quarter turns, 0 to 4.
  `CREATE MACRO adql_pixel(ra1, dec1) AS list_transform([{'t': CASE WHEN NOT isfinite(ra1) THEN NULL WHEN ra1 / 360 - floor(ra1 / 360) < 1 THEN 4 * (ra1 / 360 - floor(ra1 / 360)) ELSE 0 END,
    'z': CASE WHEN abs(dec1) <= 90 THEN sin(radians(dec1)) END, 'c': CASE WHEN abs(dec1) <= 90 THEN cos(radians(dec1)) END}], lambda s: list_transform([CASE
    WHEN s.t IS NULL OR s.z IS NULL THEN NULL
    WHEN abs(s.z) <= 2::DOUBLE / 3 THEN list_transform([{'p': 0.5 + s.t - 0.75 * s.z, 'm': 0.5 + s.t + 0.75 * s.z}], lambda j: {
      'face': CASE WHEN floor(j.p) = floor(j.m) THEN CAST(floor(j.p) AS BIGINT) % 4 + 4
        WHEN floor(j.p) < floor(j.m) THEN CAST(floor(j.p) AS BIGINT) % 4 ELSE CAST(floor(j.m) AS BIGINT) % 4 + 8 END,
      'x': ${CELL('(j.m - floor(j.m))')}, 'y': ${CELL('(1 - (j.p - floor(j.p)))')}})[1]
    ELSE list_transform([{'f': s.t - floor(s.t), 'r': s.c * sqrt(3 / (1 + abs(s.z)))}], lambda j: {
      'face': CAST(floor(s.t) AS BIGINT) + CASE WHEN s.z >= 0 THEN 0 ELSE 8 END,
      'x': ${CELL('(CASE WHEN s.z >= 0 THEN 1 - (1 - j.f) * j.r ELSE j.f * j.r END)')},
      'y': ${CELL('(CASE WHEN s.z >= 0 THEN 1 - j.f * j.r ELSE (1 - j.f) * j.r END)')}})[1] END],
    lambda q: q.face * 288230376151711744 + (${spread('q.x')} | (${spread('q.y')} << 1)))[1])[1]`,
  `CREATE MACRO adql_pixel_centre(level, pixel) AS list_transform([CASE WHEN pixel >= 0 AND pixel < 12 * (1::BIGINT << (2 * level)) THEN pixel END],
    lambda i: list_transform([{'f': i >> (2 * level), 'x': (${compressed('(i & ((1::BIGINT << (2 * level)) - 1))')} + 0.5::DOUBLE) / (1::BIGINT << level),
      'y': (${compressed('((i & ((1::BIGINT << (2 * level)) - 1)) >> 1)')} + 0.5::DOUBLE) / (1::BIGINT << level)}],
    lambda s: list_transform([{'row': (s.f >> 2) + 2 - s.x - s.y}], lambda u: CASE
      WHEN u.row BETWEEN 1 AND 3 THEN [(45 * (2 * (s.f & 3) + CASE WHEN (s.f >> 2) = 1 THEN 0 ELSE 1 END + s.x - s.y) + 360) % 360,
        degrees(asin((2 - u.row) * 2 / 3))]
      ELSE list_transform([CASE WHEN u.row < 1 THEN u.row ELSE 4 - u.row END], lambda far: [
        (45 * (2 * (s.f & 3) + 1 + (s.x - s.y) / far) + 360) % 360,
        (90 - degrees(2 * asin(far / sqrt(6)))) * CASE WHEN u.row < 1 THEN 1 ELSE -1 END])[1] END)[1])[1])[1]`,
];
