/**
 * `/llms.txt`: the facts that a language model needs to use the service, in the format of llmstxt.org
 * (docs/contract.md, Documents).
 */

import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { ARCHIVE_MCP_TOOLS, MCP_TOOLS } from '../../core/contract/mcp_tools.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import { type Documented, paths } from '../../core/documents/operations.ts';
import { caveats, reliabilityCuts } from '../../core/documents/prose.ts';
import { anchor, type Block, heading, list, paragraph, quote, toMarkdown } from './blocks.ts';
import { operationTitle } from './operations.ts';
import { conventions, limitSentences, SUMMARY, TITLE } from './prose.ts';

/** @param base scheme and host, without a trailing slash */
export function llmsTxt(api: Documented, config: Config, base: string, catalogs: Catalogs): string {
  const blocks: Block[] = [
    heading(1, TITLE),
    quote(SUMMARY),
    list(conventions(config, catalogs)),
    paragraph('What an answer does not mean:'),
    list(caveats()),
    paragraph(`Catalogs: ${catalogs.all.map(({ name, release }) => `\`${name}\` (${release})`).join(', ')}.`),
    paragraph('Reliability cuts of the brokers:'),
    list(reliabilityCuts(config)),
    paragraph('Limits:'),
    list(limitSentences(config)),
    heading(2, 'Docs'),
    list([`[API reference](${base}/api-docs.md): every operation, parameter, status and error code, in Markdown`]),
    heading(2, 'Discovery'),
    list(operationLinks(api, config, base, catalogs, true)),
    heading(2, 'Connector'),
    list([
      ...api.setup(config, base),
      `Tools: ${namesOf(MCP_TOOLS)}; of the archive: ${namesOf([...ARCHIVE_MCP_TOOLS, ...api.tools])}.`,
    ]),
    heading(2, 'Endpoints'),
    list([
      ...operationLinks(api, config, base, catalogs, false),
      ...(api.documented(config, catalogs).some(({ path }) => path === TAP_PATH)
        ? [
            `[Virtual Observatory](${base}${api.hasPages ? '/vo' : '/api-docs.md'}): queries in ADQL at \`${TAP_PATH}\` (TAP), jobs (UWS) and cone searches`,
          ]
        : []),
    ]),
    ...(api.hasPages
      ? [heading(2, 'Optional'), list([`[API reference as a page](${base}/api-docs): the same text for a browser`])]
      : []),
  ];
  return toMarkdown(blocks);
}

/**
 * Links to operations. Discovery operations are linked directly. The others need arguments, so their section of the
 * reference is linked.
 */
function operationLinks(
  api: Documented,
  config: Config,
  base: string,
  catalogs: Catalogs,
  discovery: boolean,
): string[] {
  return Object.entries(paths(api, config, catalogs)).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(
        ([, { operationId }]) =>
          api.operations.some(({ name, isDiscovery }) => isDiscovery && name === operationId) === discovery,
      )
      .map(([method, { operationId, summary }]) => {
        const title = operationTitle(method, path);
        const url = discovery ? `${base}${path}` : `${base}/api-docs.md#${anchor(operationId)}`;
        return `[${operationId}](${url}): \`${title}\`. ${summary}`;
      }),
  );
}

const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => `\`${name}\``).join(', ');
