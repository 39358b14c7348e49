import type { StageOutcome } from '../store/registry.ts';
import type { TnsRecord } from '../store/types.ts';
import type { Writer } from '../store/writer.ts';

/**
 * The TNS registry of one import: all its `tns_object` lines, wherever they stand, under its one `tns_snapshot` line.
 * At the end it replaces the stored registry in one step. The stored registry stays until then, and also when the
 * import fails.
 */
export class RegistryImport {
  readonly #writer: Writer;
  #load: number | undefined;
  #epochUs: number | undefined;

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  get epochUs(): number | undefined {
    return this.#epochUs;
  }

  /** `conflict`: the import already has another epoch, which is kept. */
  setEpoch(epochUs: number): StageOutcome {
    if (this.#epochUs !== undefined) return this.#epochUs === epochUs ? 'unchanged' : 'conflict';
    this.#epochUs = epochUs;
    return 'added';
  }

  async stage(records: readonly TnsRecord[]): Promise<StageOutcome[]> {
    this.#load ??= await this.#writer.beginRegistry();
    return this.#writer.stageRegistry(this.#load, records);
  }

  /** Replaces the stored registry. Must be called after an epoch was set. */
  async publish(): Promise<void> {
    await this.#writer.publishRegistry(this.#load ?? (await this.#writer.beginRegistry()), this.#epochUs!);
  }

  async drop(): Promise<void> {
    if (this.#load !== undefined) await this.#writer.dropRegistry(this.#load);
  }
}
