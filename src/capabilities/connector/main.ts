import type { PartOf } from '../../core/host.ts';
import { ADMIT, Limiter } from './limiter.ts';
import { connectorSettings } from './settings.ts';

/** The grace period, after a request's budget, before the slot of an abandoned call is reclaimed. */
const SLOT_MARGIN_SECONDS = 10;

export const part: PartOf = ({ config, lend }) => {
  const { MCP_MAX_CONCURRENT, MCP_MAX_CONCURRENT_PER_KEY } = connectorSettings.of(config);
  const limiter = new Limiter({
    maxConcurrent: MCP_MAX_CONCURRENT,
    maxConcurrentPerKey: MCP_MAX_CONCURRENT_PER_KEY,
    slotSeconds: config.API_REQUEST_BUDGET_SECONDS + SLOT_MARGIN_SECONDS,
  });
  lend(
    ADMIT,
    caller => limiter.admit(caller),
    slot => limiter.free(slot),
  );
  return {};
};
