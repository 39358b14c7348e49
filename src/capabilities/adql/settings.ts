import { about, ownSettings } from '../../core/config/config.ts';
import { integer, ivoid, list, name, number, optional, text } from '../../core/config/values.ts';

export const adqlSettings = ownSettings({
  title: 'Limits and links of the API',
  settings: {
    TAP_MAX_QUERIES: about(
      'Maximum number of simultaneous ADQL queries. One client gets at most half of the slots; other queries wait up to 10 s. 0 disables ADQL.',
      integer(4, 0, 64),
    ),
    TAP_MAX_RECORDS: about(
      'Maximum number of rows in the answer to an ADQL query.',
      integer(1_000_000, 1, 100_000_000),
    ),
    TAP_QUERY_SECONDS: about('Maximum run time of an ADQL query.', number(45, 1, 3600)),
    TAP_MEMORY_MIB: about(
      'Memory of the ADQL engine for all queries together, MiB. Its process gets 192 MiB more.',
      integer(192, 128, 1_048_576),
    ),
    TAP_MAX_UPLOAD_MIB: about(
      'Maximum total size of the tables uploaded with an ADQL query, MiB. Each table has at most API_MAX_TABLE_ROWS rows.',
      integer(64, 1, 1024),
    ),
    TAP_MAX_SOURCES_MIB: about(
      'Maximum size of the catalog data that an ADQL query reads (CATALOG.sources), as stored in the files, MiB. The data is copied to DATA/tap while the query runs.',
      integer(512, 1, 1_048_576),
    ),
    TAP_UPLOAD_HOSTS: about(
      'Hosts from which ADQL queries may fetch tables (UPLOAD=NAME,https://...). HOST allows its ports 80 and 443, HOST:PORT another port, and * ports 80 and 443 of every host with a public address. An empty list disables fetching.',
      list(name(), []),
    ),
    TAP_EARLIER_STATES: about(
      'Maximum number of earlier states whose tables are kept for ADQL queries with AT. Each takes as much disk space as the tables of the present state. 0 disables AT.',
      integer(2, 0, 100),
    ),
    VO_IDENTIFIER: about(
      'Identifier of the service in Virtual Observatory registries, such as ivo://example.org/nearsky. Without it, /vo/record has an identifier that no registry has.',
      optional(ivoid()),
    ),
    VO_PUBLISHER: about('Publisher of the service in /vo/record.', text('nearsky')),
    VO_CONTACT_EMAIL: about('Contact address of the publisher in /vo/record.', optional(name())),
  },
  least: ({ TAP_MAX_QUERIES, TAP_MEMORY_MIB }) => [
    {
      name: 'NEARSKY_CHILD_MEMORY_MIB',
      least: TAP_MAX_QUERIES > 0 ? TAP_MEMORY_MIB + 352 : 0,
      why: `ADQL queries and two small tables take up to 352 more than TAP_MEMORY_MIB (${TAP_MEMORY_MIB})`,
    },
  ],
});

export type AdqlConfig = ReturnType<typeof adqlSettings.of>;
