/** The documents in which TAP describes itself: TAPRegExt 1.0, VOSI 1.1, and examples of DALI 1.1. */
import { FEATURES, type Feature, spelled, tableName } from '@nearsky/adql';
import { escapeXml } from '@nearsky/astrotables';
import type { Config } from '../../core/config/config.ts';
import { TAP_PATH } from '../../core/contract/tap.ts';
import { columnElement, endpoints, root } from '../vo/vosi.ts';
import { maxUploadBytes } from './limits.ts';
import type { ForeignKey, ListedTable } from './listed_table.ts';
import { adqlSettings } from './settings.ts';
import { isIndexed, schemaDescription } from './tables.ts';
import { EXAMPLES, TAP_FORMATS } from './tap_formats.ts';

/**
 * @param base scheme and host of this service
 * @param hasEngine whether the service can answer queries at all
 */
export function tapCapabilities(config: Config, base: string, hasEngine: boolean): string {
  return (
    `${root('capabilities', 'capabilities', 'vr', 'vs', 'tr')}>\n${hasEngine ? tapCapability(config, base) : ''}${endpoints(`${base}${TAP_PATH}`)}` +
    '<capability standardID="ivo://ivoa.net/std/DALI#examples">\n<interface xsi:type="vr:WebBrowser">\n' +
    `<accessURL use="full">${escapeXml(base)}${TAP_PATH}/examples</accessURL>\n</interface>\n</capability>\n</vosi:capabilities>\n`
  );
}

/** The description of the queries. */
export function tapCapability(config: Config, base: string): string {
  const features = Map.groupBy(FEATURES, ({ type }) => type);
  const lists = Array.from(features, ([type, of]) => {
    const name = `ivo://ivoa.net/std/TAPRegExt#features-${type}`;
    return `<languageFeatures type="${name}">\n${of.map(feature).join('')}</languageFeatures>\n`;
  });
  const formats = TAP_FORMATS.map(
    ({ name, mediaType }) => `<outputFormat><mime>${mediaType}</mime><alias>${name}</alias></outputFormat>\n`,
  );
  const { TAP_MAX_RECORDS, TAP_UPLOAD_HOSTS, JOBS_HOURS, JOBS_SECONDS } = adqlSettings.of(config);
  const uploadMethods = TAP_UPLOAD_HOSTS.length > 0 ? ['inline', 'http', 'https'] : ['inline'];
  const limit = (name: string) => `<${name} unit="row">${TAP_MAX_RECORDS}</${name}>`;
  const time = (name: string, seconds: number) =>
    `<${name}><default>${seconds}</default><hard>${seconds}</hard></${name}>\n`;
  return (
    '<capability standardID="ivo://ivoa.net/std/TAP" xsi:type="tr:TableAccess">\n' +
    '<interface xsi:type="vs:ParamHTTP" role="std" version="1.1">\n' +
    `<accessURL use="base">${escapeXml(base)}${TAP_PATH}</accessURL>\n</interface>\n` +
    '<language>\n<name>ADQL</name>\n<version ivo-id="ivo://ivoa.net/std/ADQL#v2.1">2.1</version>\n' +
    '<version ivo-id="ivo://ivoa.net/std/ADQL#v2.0">2.0</version>\n' +
    `<description>ADQL 2.1</description>\n${lists.join('')}</language>\n${formats.join('')}` +
    uploadMethods.map(name => `<uploadMethod ivo-id="ivo://ivoa.net/std/TAPRegExt#upload-${name}"/>\n`).join('') +
    `${time('retentionPeriod', Math.round(3600 * JOBS_HOURS))}${time('executionDuration', JOBS_SECONDS)}` +
    `<outputLimit>${limit('default')}${limit('hard')}</outputLimit>\n` +
    `<uploadLimit><hard unit="byte">${maxUploadBytes(config)}</hard></uploadLimit>\n</capability>\n`
  );
}

function feature({ form, description }: Feature): string {
  const meaning = description === undefined ? '' : `<description>${escapeXml(description)}</description>`;
  return `<feature><form>${escapeXml(form)}</form>${meaning}</feature>\n`;
}

/** Every table; without columns if the least detail is requested. */
export function tapTableset(tables: readonly ListedTable[], isBrief: boolean): string {
  return `${root('tableset', 'tables', 'vs')}>\n${schemaElements(tables, isBrief)}</vosi:tableset>\n`;
}

export function schemaElements(tables: readonly ListedTable[], isBrief = false): string {
  const schemas = Map.groupBy(tables, ({ schema }) => schema);
  const elements = [...schemas].map(([name, of]) => {
    const list = of.map(table => `<table type="table">\n${tableContent(table, isBrief)}</table>\n`);
    const description = escapeXml(schemaDescription(name, tables));
    return `<schema>\n<name>${name}</name>\n<description>${description}</description>\n${list.join('')}</schema>\n`;
  });
  return elements.join('');
}

/** One table; undefined if no table has that name. */
export function tapTable(tables: readonly ListedTable[], name: string): string | undefined {
  const table = tables.find(each => tableName(each) === name);
  return table && `${root('table', 'tables', 'vs')} type="table">\n${tableContent(table, false)}</vosi:table>\n`;
}

function tableContent(table: ListedTable, isBrief: boolean): string {
  const columns = table.columns.map(column => columnElement(column, spelled(column.name), isIndexed(table, column)));
  const listed = isBrief ? [] : [...columns, ...table.refers.map(keyElement)];
  const { description } = table;
  return `<name>${escapeXml(tableName(table))}</name>\n<description>${escapeXml(description)}</description>\n${listed.join('')}`;
}

function keyElement({ from, table, target }: ForeignKey): string {
  const [own, other] = [from, target].map(name => escapeXml(spelled(name)));
  const columns = `<fromColumn>${own}</fromColumn><targetColumn>${other}</targetColumn>`;
  return `<foreignKey><targetTable>${escapeXml(table)}</targetTable><fkColumn>${columns}</fkColumn></foreignKey>\n`;
}

/** DALI 1.1, section 2.3. */
export function tapExamples(): string {
  const examples = EXAMPLES.map(
    ([id, name, query]) =>
      `<div id="${id}" resource="#${id}" typeof="example">\n<h2 property="name">${escapeXml(name)}</h2>\n` +
      `<pre property="query">${escapeXml(query)}</pre>\n</div>\n`,
  );
  return (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">\n' +
    '<head><title>Examples of queries in ADQL</title></head>\n' +
    `<body vocab="http://www.ivoa.net/rdf/examples#">\n<h1>Examples of queries in ADQL</h1>\n${examples.join('')}</body>\n</html>\n`
  );
}
