/** The parameters of the streams. */

import { OBJECT_STATUSES } from '../../core/contract/enums.ts';
import { named } from '../../core/contract/kind.ts';
import { type Parameters, STREAM_PARAMETERS } from '../../core/documents/parameters.ts';
export const OBJECT_STREAM_PARAMETERS = {
  ...STREAM_PARAMETERS,
  status: {
    kind: named(OBJECT_STATUSES.filter(isStored)),
    description: 'Only changes that leave the object in this status.',
  },
} satisfies Parameters;

function isStored(status: Status): status is Exclude<Status, { readonly name: 'not_in_service' }> {
  return status.name !== 'not_in_service';
}

type Status = (typeof OBJECT_STATUSES)[number];
