/** Lists as people paste them, and what they mean. */

export const RA = 15 * (12 + (34 + 56.7 / 60) / 60);
export const DEC = -(1 + (2 + 3 / 60) / 60);
/** The position of all lists. */
export const AT = 'at';
export const ID = '170028513894596704';

/** What each entry of a list is: `at` and a label for the position above, an id, a name, or the reason of a refusal. */
type Expected = string | RegExp;

export const LISTS: readonly (readonly [from: string, pasted: string, ...Expected[]])[] = [
  ['the issue', 'SN 2026ubc 12:34:56.7 -01:02:03', `${AT} SN 2026ubc`],
  ['TNS, a row of the page', '169012\tSN 2026ubc\t12:34:56.700\t-01:02:03.00\tSN Ia\t0.0512\tZTF', `${AT} SN 2026ubc`],
  [
    'TNS, the file',
    '"ID","Name","RA","DEC","Obj. Type"\n"169012","SN 2026ubc","12:34:56.700","-01:02:03.00","SN Ia"',
    /column names/,
    `${AT} SN 2026ubc`,
  ],
  [
    'TNS, with the time of discovery',
    'AT 2026ubc 12:34:56.700 -01:02:03.00 2026-01-05 10:11:12.345 18.5',
    `${AT} AT 2026ubc`,
  ],
  ['TNS, the time first', '2026-01-05 10:11:12 AT2026ubc 12:34:56.700 -01:02:03.00', `${AT} AT2026ubc`],
  ['Lasair, ids', `${ID}\n${ID}`, ID, ID],
  ['Lasair, ids and positions', `${ID}, 188.73625, -1.034167`, ID, AT],
  [
    'Lasair, the file',
    'diaObjectId,ra,decl,gmag\n170028513894596704,188.73625,-1.034167,18.2',
    /column names|neither/,
    /neither/,
  ],
  ['ZTF', 'ZTF26aaaubcd 188.73625 -1.034167', `${AT} ZTF26aaaubcd`],
  ['ZTF, tabs', 'ZTF26aaaubcd\t188.73625\t-1.034167', `${AT} ZTF26aaaubcd`],
  ['ATel', 'SN 2026ubc (=ZTF26aaaubcd) RA=12:34:56.7 Dec=-01:02:03', `${AT} SN 2026ubc`],
  ['ATel, letters', 'AT2026ubc 12h34m56.7s -01d02m03s (J2000) r=19.2', `${AT} AT2026ubc`],
  ['ATel, a table', 'SN 2026ubc | 12:34:56.70 | -01:02:03.0 | 2026-01-05.3 | 19.2 | Ia', `${AT} SN 2026ubc`],
  ['ATel, spaces', 'AT 2026ubc  12 34 56.70  -01 02 03.0  19.2', `${AT} AT 2026ubc`],
  ['GCN', 'EP260105a: R.A. = 12:34:56.7, Dec. = -01:02:03', `${AT} EP260105a`],
  ['LaTeX', 'SN~2026ubc & 12:34:56.7 & $-$01:02:03 & Ia & 0.05 \\\\', `${AT} SN 2026ubc`],
  [
    'LaTeX, superscripts',
    "SN 2026ubc & 12$^{\\rm h}$34$^{\\rm m}$56$\\fs$7 & $-01^{\\circ}02'03''$ & Ia \\\\",
    `${AT} SN 2026ubc`,
  ],
  ['LaTeX, AASTeX', 'SN 2026ubc & 12$^h$34$^m$56.7$^s$ & $-$01\\degr02\\arcmin03\\arcsec \\\\', `${AT} SN 2026ubc`],
  ['LaTeX, rules', '\\hline\nSN~2026ubc & 12:34:56.7 & $-$01:02:03 \\\\\n\\hline', `${AT} SN 2026ubc`],
  ['Excel', 'SN 2026ubc\t188.73625\t-1.034167', `${AT} SN 2026ubc`],
  ['Excel, quotes', '"SN 2026ubc"\t"12:34:56.7"\t"-01:02:03"', `${AT} SN 2026ubc`],
  ['Excel, German', 'SN 2026ubc\t188,73625\t-1,034167', /decimal commas/],
  ['Excel, further numbers', 'SN 2026ubc\t188.73625\t-1.034167\t18.25', /more numbers/],
  ['VizieR', '#RESOURCE=x\n12 34 56.70 -01 02 03.0|SN2026ubc', `${AT} SN2026ubc`],
  ['VizieR, the head', '_RAJ2000|_DEJ2000|Name\n12:34:56.70|-01:02:03.0|SN2026ubc', /column names/, `${AT} SN2026ubc`],
  ['SIMBAD', 'V* AB Cyg | 12:34:56.7 -01:02:03', `${AT} V* AB Cyg`],
  ['Markdown', '| SN 2026ubc | 12:34:56.7 | -01:02:03 |\n|---|---|---|', `${AT} SN 2026ubc`],
  ['the name last', '188.73625 -1.034167 SN 2026ubc', `${AT} SN 2026ubc`],
  ['a radius', 'SN 2026ubc 12:34:56.7 -01:02:03 r=5', `${AT} SN 2026ubc`],
  ['names', 'SN 2026ubc, SN 2026ubd\nAT2026ube', '2026ubc', '2026ubd', '2026ube'],
  ['another equinox', 'NGC 4567 12:34:56.7 -01:02:03 B1950', /another frame/],
  ['another frame', 'gal 120.5 -20.3', /neither/],
  ['two positions', 'SN 2026ubc 12:34:56.7 -01:02:03 12:34:57.7 -01:02:04', /several/],
  ['minutes', 'SN 2026ubc 12:61:56.7 -01:02:03', /below 60/],
  ['typographic signs', 'SN 2026ubc 12ʰ34ᵐ56.7ˢ −01°02′03″', `${AT} SN 2026ubc`],
];

/** What a table of right ascensions in degrees is told that states hours, if the second one is 28.5 degrees. */
export const BEYOND_24 = 'the unit of its column ra is h, but it holds 28.5, which is more than 24 hours';
