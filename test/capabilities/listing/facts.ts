import type { Facts } from '../../core/facts.ts';

const SELECTION = 'start end time_field detail page_size cursor status format'.split(' ');
const WINDOW = 'start=2026-09-21T00:00:00Z&end=2026-09-22T00:00:00Z';

export const facts: Facts = {
  parameters: filters => ({ 'get /api/objects': [...SELECTION, ...filters, 'response', 'at'] }),
  emitted: 'any',
  requests: [{ path: '/api/objects?reliability_min=0.9' }, { path: '/api/objects?cursor=%7B' }],
  ofObjects: ['/api/objects'],
  places: [
    { path: `/api/objects?${WINDOW}&page_size=1000` },
    { path: '/api/objects?response=count' },
    { path: `/api/objects?response=count&${WINDOW}&status=coincident_sources` },
  ],
  walks: [
    { path: `/api/objects?${WINDOW}&` },
    {
      path: '/api/objects?time_field=event_time&status=crossmatch_pending&start=2000-01-01T00:00:00Z&end=2026-09-22T00:00:00Z&',
      isPending: true,
    },
  ],
  searches: round => {
    const detail = ['ids', 'position', 'matches', 'full'][round % 4]!;
    return [
      {
        path: `/api/objects?detail=${detail}&page_size=5&start=2026-02-25T09:06:00Z&end=2026-02-25T09:18:00Z`,
      },
      { path: '/api/objects?status=coincident_sources&detail=full' },
      { path: `/api/objects?detail=${detail}&page_size=7`, isWalk: true },
      {
        path: '/api/objects?detail=matches&page_size=3&time_field=event_time&catalog=gaia_dr3',
        isWalk: true,
      },
      { path: '/api/objects?response=count' },
      { path: '/api/objects?response=count&status=no_coincident_source' },
      { path: '/api/objects?response=count&time_field=event_time&end=2026-02-25T09:12:00Z' },
    ];
  },
  found: { path: '/api/objects?', isEverywhere: true },
};
