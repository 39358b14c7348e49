import type { Facts } from '../../core/facts.ts';

export const facts: Facts = {
  named: ['`http://nearsky.test/mcp/archive`'],
  requests: [
    {
      path: '/mcp/archive',
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      },
    },
  ],
};
