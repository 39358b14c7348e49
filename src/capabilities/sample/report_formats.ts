/** The formats of a report for readers: a table for a paper, and a page. They are written from the report's JSON. */
import type { Format } from '@nearsky/astrotables/formats';
import { contentType } from '../../core/contract/formats.ts';
import { dispositionOf } from '../../core/http/table_response.ts';
import { htmlOf, PAGE_HEADERS } from './html_report.ts';
import { latexOf } from './latex.ts';
import { MAX_SHOWN_ROWS } from './limits.ts';
import type { WholeReport } from './whole_report.ts';

export const REPORT_FORMATS = [
  {
    name: 'latex',
    title: 'LaTeX',
    meaning: 'the rows as a deluxetable of AASTeX, in ASCII',
    mediaType: 'application/x-tex',
    synonyms: ['application/x-latex', 'text/x-tex'],
    extensions: ['tex'],
  },
  {
    name: 'html',
    title: 'HTML',
    meaning: `one page to keep: summary, paragraph, BibTeX, plots, and the first ${MAX_SHOWN_ROWS} rows`,
    mediaType: 'text/html',
    parameters: '; charset=utf-8',
    extensions: ['html', 'htm'],
  },
] as const satisfies readonly Format[];

export type ReportFormat = (typeof REPORT_FORMATS)[number]['name'];

export const isReport = (name: string): name is ReportFormat => REPORT_FORMATS.some(format => format.name === name);

/** The headers of the answer, which depend on its format. */
export function reportHeaders(name: ReportFormat): Record<string, string> {
  const format = REPORT_FORMATS.find(each => each.name === name)!;
  const own = name === 'html' ? PAGE_HEADERS : { 'Content-Disposition': dispositionOf('sample', format) };
  return { 'Content-Type': contentType(format), ...own };
}

/** Writes a report in parts. */
export const writeReport = (format: ReportFormat, report: WholeReport): Iterable<string> =>
  format === 'latex' ? latexOf(report) : htmlOf(report);
