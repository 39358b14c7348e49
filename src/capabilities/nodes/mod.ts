/** The care of nodes that share one log. A node follows its log without it. */
import type { Capability } from '../../core/host.ts';

export const nodes: Capability = {
  name: 'nodes',
  commands: new Map([
    ['node', { summary: 'manage nodes that share one log', after: 'backup', load: () => import('./node_command.ts') }],
  ]),
};
