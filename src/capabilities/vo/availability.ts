/** VOSI's availability of a service (VOSI 1.1, section 5). */
import type { Budget } from '../../core/base/budget.ts';
import { processStart } from '../../core/base/processes.ts';
import type { Handler } from '../../core/http/exchange.ts';
import { xmlResponse } from '../../core/http/respond.ts';
import type { Service } from '../../core/service/service.ts';
import { availability } from './vosi.ts';

/**
 * @param own why a service cannot answer, for a reason of its own
 * @param noteOf a remark about a service that can answer
 */
export function availabilityOf(
  service: Service,
  own: () => string | undefined = () => undefined,
  noteOf: (budget: Budget) => Promise<string | undefined> = async () => undefined,
): Handler {
  const upSince = processStart().toISOString();
  const troubleOf = () => {
    if (service.isStopping) return 'The service is stopping';
    if (!service.indexReady) return 'The index is not ready';
    return service.look() ? own() : 'The database cannot be read';
  };
  return async ({ budget }) => {
    const trouble = troubleOf();
    const note = trouble ?? (await noteOf(budget));
    return xmlResponse(availability(trouble === undefined, note, upSince));
  };
}
