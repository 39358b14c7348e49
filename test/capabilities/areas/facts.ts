import type { Facts } from '../../core/facts.ts';

const SELECTION = 'start end time_field detail page_size cursor status format'.split(' ');
const AREA = 'CIRCLE 150 2 0.001';
const NEAR_ORIGIN = 'CIRCLE 10.005 0 0.008';

export const facts: Facts = {
  parameters: filters => ({ 'post /api/area': ['area', 'level', ...SELECTION, ...filters, 'response', 'at'] }),
  emitted: 'any table outline circle polygon box range moc probability_map',
  limits: { areas: [2 ** 23, 2 ** 26, 200_000, 1000, 20_000] },
  requests: [
    { path: '/api/area?detail=matches', body: { 0: [0, 4, 8, 11] } },
    { path: '/api/area?response=count', body: { 0: [8] } },
  ],
  places: [
    { path: '/api/area?page_size=1000', body: AREA },
    { path: '/api/area?response=count', body: AREA },
    { path: '/api/area?response=count&status=crossmatch_pending', body: AREA },
  ],
  walks: [{ path: '/api/area?', body: AREA }],
  searches: round => {
    const detail = ['ids', 'position', 'matches', 'full'][round % 4]!;
    return [
      `detail=${detail}&page_size=4`,
      'status=coincident_sources&detail=full&time_field=event_time&start=2026-02-25T09:10:00Z',
      'response=count',
      'response=count&status=crossmatch_pending',
      'response=table&detail=position',
    ].map(query => ({ path: `/api/area?${query}`, body: NEAR_ORIGIN }));
  },
  found: { path: '/api/area?', body: 'CIRCLE 150 2 0.01' },
};
