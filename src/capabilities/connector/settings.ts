import { about, ownSettings, secret } from '../../core/config/config.ts';
import { baseAddress, integer, list, network, optional, origin, rate, text } from '../../core/config/values.ts';

export const connectorSettings = ownSettings({
  title: 'The chat connector',
  settings: {
    MCP_MAX_IDENTIFIERS: about('Maximum number of identifiers in one call of the connector.', integer(100, 1, 1000)),
    MCP_MAX_OBJECTS: about('Maximum number of objects summarised in one call.', integer(20, 1, 1000)),
    MCP_MATCHES_PER_CATALOG: about('Maximum number of matches per catalog in a summary.', integer(3, 1, 100)),
    MCP_MAX_RESULT_CHARS: about("Maximum length of a call's result, in characters.", integer(30_000, 5000, 10_000_000)),
    MCP_API_BASE_URL: about(
      "Address of the API in the connector's commands; null uses PUBLIC_BASE_URL, or the address in the request.",
      optional(baseAddress()),
    ),
    MCP_ALLOWED_ORIGINS: about('Origins whose pages may use the connector.', list(origin(), [])),
    MCP_SESSION_MAX_AGE_SECONDS: about('Lifetime of a session id.', integer(86_400, 1, 31_536_000)),
    MCP_SESSION_SECRET: secret(
      'Secret that signs session ids; null generates a random one. Processes behind one load balancer need the same secret.',
      optional(text('')),
    ),
    MCP_SESSION_RATE: about("Rate limit per session from a provider's range.", rate(2, 10)),
    MCP_IP_RATE: about("Rate limit per address outside the providers' ranges.", rate(2, 10)),
    MCP_PROVIDER_RATE: about("Rate limit per provider's range, for calls without a session.", rate(10, 50)),
    MCP_MAX_CONCURRENT: about('Maximum number of simultaneous calls.', integer(6, 1, 10_000)),
    MCP_MAX_CONCURRENT_PER_KEY: about(
      'Maximum number of simultaneous calls per session, address or range; never more than half of MCP_MAX_CONCURRENT.',
      integer(2, 1, 10_000),
    ),
    MCP_PROVIDER_CIDRS: about(
      'Address ranges of the providers of chat assistants.',
      list(network(), ['160.79.104.0/21']),
    ),
  },
});

export type ConnectorConfig = ReturnType<typeof connectorSettings.of>;
