import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { clamped, matching, named, textual } from '../../core/contract/kind.ts';
import { ANY_TEXT, JOURNAL_ENTRY } from '../../core/documents/kinds.ts';
import type { Parameter, Parameters } from '../../core/documents/parameters.ts';
import { adqlSettings } from './settings.ts';
import { EXAMPLES, LANGUAGES, TAP_FORMATS, tapFormat } from './tap_formats.ts';

const LANGUAGE = named(LANGUAGES);
const TAP_FORMAT = {
  kind: textual(`one of ${TAP_FORMATS.flatMap(({ name, mediaType }) => [name, mediaType]).join(', ')}`, tapFormat),
  description: `The format of the answer: ${TAP_FORMATS.map(({ name }) => `\`${name}\``).join(', ')}, or one of their media types. Default: \`votable\`.`,
} satisfies Parameter;

/** The parameters of an ADQL query (TAP 1.1, section 2.7; DALI 1.1, section 3). Their names are not case-sensitive. */
export const tapParameters = memoized((config: Config) => {
  const { TAP_MAX_RECORDS, TAP_UPLOAD_HOSTS } = adqlSettings.of(config);
  return {
    REQUEST: { kind: matching(/^doQuery$/, 'doQuery'), description: '`doQuery`, or left out.' },
    LANG: {
      kind: { ...LANGUAGE, parseText: (text: string) => LANGUAGE.parseText(text.toUpperCase()) },
      description: 'The language of the query, not case-sensitive.',
      required: 'always',
      give: LANGUAGES[0].name,
    },
    QUERY: {
      kind: ANY_TEXT,
      description: 'The query.',
      required: 'always',
      give: `a query in ADQL, such as ${EXAMPLES[0][2]}`,
    },
    MAXREC: {
      kind: { ...clamped(0, TAP_MAX_RECORDS, /^\d+$/), unit: 'count' },
      description: `Maximum number of rows. Values above ${TAP_MAX_RECORDS} count as ${TAP_MAX_RECORDS}.`,
      default: TAP_MAX_RECORDS,
    },
    AT: {
      kind: JOURNAL_ENTRY,
      description:
        'A journal entry from the `X-Journal-Entry` of an earlier answer: the tables are read as they were after that entry. The default is the newest entry. Until the tables of an entry are made, queries are 503, and jobs wait.',
    },
    RESPONSEFORMAT: TAP_FORMAT,
    FORMAT: { ...TAP_FORMAT, description: 'An older name of RESPONSEFORMAT. RESPONSEFORMAT has precedence.' },
    UPLOAD: {
      kind: ANY_TEXT,
      description:
        'Tables to query as TAP_UPLOAD.NAME, separated by semicolons: `NAME,param:PART` for a part of this form' +
        (TAP_UPLOAD_HOSTS.length > 0
          ? ', or `NAME,https://...` for an address on a host that the service allows.'
          : '.'),
    },
  } satisfies Parameters;
});
