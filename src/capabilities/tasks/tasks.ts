/** The list of tasks, in a fixed order. */

export const TASK_PATH = '/api/task/';

export const TASKS = [
  'Host match',
  'Cutout download',
  'Global aperture construction',
  'Local aperture photometry',
  'Global aperture photometry',
  'Validate local photometry',
  'Validate global photometry',
  'Host information',
  'Global host SED inference',
  'Local host SED inference',
  'Transient MWEBV',
  'Host MWEBV',
  'Crop transient images',
  'Generate thumbnail',
  'Generate thumbnail final',
  'Generate thumbnail SED local',
  'Generate thumbnail SED global',
] as const;
