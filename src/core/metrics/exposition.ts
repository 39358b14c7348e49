/** Prometheus's text format, version 0.0.4. */

export const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4';

export type Labels = Readonly<Record<string, string>>;
export type Sample = readonly [labels: Labels, value: number];

export interface Histogram {
  readonly labels: Labels;
  /** Upper bounds, inclusive, ascending. */
  readonly bounds: readonly number[];
  /** One count per bound, not cumulative, and a last one for values above all bounds. */
  readonly counts: readonly number[];
  readonly sum: number;
}

export class Exposition {
  readonly #lines: string[] = [];

  counter(name: string, help: string, samples: readonly Sample[]): this {
    return this.#family(name, 'counter', help, samples);
  }

  gauge(name: string, help: string, samples: readonly Sample[]): this {
    return this.#family(name, 'gauge', help, samples);
  }

  histogram(name: string, help: string, histograms: readonly Histogram[]): this {
    if (histograms.length === 0) return this;
    this.#head(name, 'histogram', help);
    for (const { labels, bounds, counts, sum } of histograms) {
      let total = 0;
      counts.forEach((count, i) => {
        total += count;
        this.#sample(`${name}_bucket`, { ...labels, le: i < bounds.length ? `${bounds[i]}` : '+Inf' }, total);
      });
      this.#sample(`${name}_sum`, labels, sum);
      this.#sample(`${name}_count`, labels, total);
    }
    return this;
  }

  text(): string {
    return `${this.#lines.join('\n')}\n`;
  }

  #family(name: string, type: string, help: string, samples: readonly Sample[]): this {
    if (samples.length === 0) return this;
    this.#head(name, type, help);
    for (const [labels, value] of samples) this.#sample(name, labels, value);
    return this;
  }

  #head(name: string, type: string, help: string): void {
    this.#lines.push(
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
      `# TYPE ${name} ${type}`,
    );
  }

  #sample(name: string, labels: Labels, value: number): void {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    this.#lines.push(`${name}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${numberText(value)}`);
  }
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return `${value}`;
}
