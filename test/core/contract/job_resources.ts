const PARTS = 'phase executionduration destruction quote owner error parameters results results/result'.split(' ');

/** The resources of jobs (UWS 1.1, section 2.2), as paths of the OpenAPI document. */
export const jobResources = (base: string): string[] => [
  base,
  `${base}/{id}`,
  ...PARTS.map(part => `${base}/{id}/${part}`),
];
