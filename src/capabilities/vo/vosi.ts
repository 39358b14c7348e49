/**
 * Writes the services' descriptions of themselves: capabilities, availability and tables by the schemas of VOSI 1.1.
 */

import type { Column, Table } from '@nearsky/astrotables';
import { datatypeOf, escapeXml } from '@nearsky/astrotables';
import type { Config } from '../../core/config/config.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { LARGE_CONE_PATH } from '../../core/contract/limits.ts';
import { coneTable, coneTargets, OBJECTS } from './cone_tables.ts';

export const VO_PATH = '/vo';
/** XML namespaces. Each is also the address of its schema. */
const NAMESPACES = {
  capabilities: 'http://www.ivoa.net/xml/VOSICapabilities/v1.0',
  availability: 'http://www.ivoa.net/xml/VOSIAvailability/v1.0',
  tables: 'http://www.ivoa.net/xml/VOSITables/v1.0',
  vr: 'http://www.ivoa.net/xml/VOResource/v1.0',
  vs: 'http://www.ivoa.net/xml/VODataService/v1.1',
  cs: 'http://www.ivoa.net/xml/ConeSearch/v1.0',
  tr: 'http://www.ivoa.net/xml/TAPRegExt/v1.0',
  ri: 'http://www.ivoa.net/xml/RegistryInterface/v1.0',
} as const;

/** The start of a document and of its root element. The element is in the first of these namespaces. */
export function root(element: string, own: keyof typeof NAMESPACES, ...others: (keyof typeof NAMESPACES)[]): string {
  const used = [own, ...others].map(prefix => NAMESPACES[prefix]);
  const named = others.map(prefix => ` xmlns:${prefix}="${NAMESPACES[prefix]}"`).join('');
  const prefix = own === 'ri' ? own : 'vosi';
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n<${prefix}:${element} xmlns:${prefix}="${NAMESPACES[own]}"${named} ` +
    `xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="${used.map(each => `${each} ${each}`).join(' ')}"`
  );
}
const SCHEMA_NAME = 'nearsky';

export function conePath(target: string): string {
  return target === OBJECTS ? LARGE_CONE_PATH : `${LARGE_CONE_PATH}/${target}`;
}

/** Parameters, as a registry describes them: name, whether it is required, type, unit, UCD and meaning. */
const PARAMETERS = [
  ['RA', 'required', 'real', 'deg', 'pos.eq.ra', 'Right ascension of the centre, ICRS, 0 to 360'],
  ['DEC', 'required', 'real', 'deg', 'pos.eq.dec', 'Declination of the centre, ICRS, -90 to 90'],
  ['SR', 'required', 'real', 'deg', 'pos.angDistance', 'Radius; 0 returns the columns only'],
  ['VERB', 'optional', 'integer', '', '', 'How many columns: 1, 2 or 3'],
  ['MAXREC', 'optional', 'integer', '', 'meta.number', 'Maximum number of rows; 0 returns the columns only'],
  [
    'RESPONSEFORMAT',
    'optional',
    'string',
    '',
    'meta.code.mime',
    'votable, or a media type of it; ;serialization=BINARY2',
  ],
] as const;

/** A position near which the sample has objects. */
const TEST_QUERY = { ra: 61.6223, dec: -49.2951, sr: 0.05 };

/**
 * @param base scheme and host of this service
 * @param others XML elements for the other services
 */
export function capabilities(config: Config, base: string, catalogs: Catalogs, others: string): string {
  return (
    `${root('capabilities', 'capabilities', 'vr', 'vs', 'cs', 'tr')}>\n` +
    `${coneCapabilities(config, base, catalogs)}${others}${endpoints(`${base}${VO_PATH}`)}</vosi:capabilities>\n`
  );
}

export function coneCapabilities(config: Config, base: string, catalogs: Catalogs): string {
  return coneTargets(catalogs)
    .map(target => coneCapability(coneTable(target, 1, catalogs), config, base))
    .join('');
}

function coneCapability(
  { name, description }: Table,
  { VO_MAX_RADIUS_DEG, VO_MAX_RECORDS }: Config,
  base: string,
): string {
  const { ra, dec, sr } = TEST_QUERY;
  return (
    '<capability standardID="ivo://ivoa.net/std/ConeSearch" xsi:type="cs:ConeSearch">\n' +
    `<description>${escapeXml(description)}</description>\n` +
    `<interface xsi:type="vs:ParamHTTP" role="std">\n<accessURL use="base">${escapeXml(base)}${conePath(name)}?</accessURL>\n` +
    `<queryType>GET</queryType>\n<resultType>application/x-votable+xml</resultType>\n${PARAMETERS.map(parameter).join('')}</interface>\n` +
    `<maxSR>${VO_MAX_RADIUS_DEG}</maxSR>\n<maxRecords>${VO_MAX_RECORDS}</maxRecords>\n<verbosity>true</verbosity>\n` +
    `<testQuery><ra>${ra}</ra><dec>${dec}</dec><sr>${sr}</sr></testQuery>\n</capability>\n`
  );
}

function parameter([name, use, type, unit, ucd, description]: (typeof PARAMETERS)[number]): string {
  const params = [
    `<name>${name}</name><description>${escapeXml(description)}</description>`,
    unit && `<unit>${unit}</unit>`,
    ucd && `<ucd>${ucd}</ucd>`,
    `<dataType>${type}</dataType>`,
  ];
  return `<param std="true" use="${use}">${params.join('')}</param>\n`;
}

/** The VOSI capabilities below an address. */
export function endpoints(address: string): string {
  return (
    `${endpoint('capabilities', `${address}/capabilities`)}${endpoint('availability', `${address}/availability`)}` +
    `${endpoint('tables-1.1', `${address}/tables`)}`
  );
}

function endpoint(name: string, url: string): string {
  return (
    `<capability standardID="ivo://ivoa.net/std/VOSI#${name}">\n<interface xsi:type="vs:ParamHTTP" role="std">\n` +
    `<accessURL use="full">${escapeXml(url)}</accessURL>\n</interface>\n</capability>\n`
  );
}

/**
 * @param note a remark, or the reason why the service cannot answer
 * @param upSince ISO-8601, UTC
 */
export function availability(isAvailable: boolean, note: string | undefined, upSince: string): string {
  const said = note === undefined ? '' : `<vosi:note>${escapeXml(note)}</vosi:note>\n`;
  return (
    `${root('availability', 'availability')}>\n` +
    `<vosi:available>${isAvailable}</vosi:available>\n<vosi:upSince>${upSince}</vosi:upSince>\n${said}</vosi:availability>\n`
  );
}

/** Every table, with its columns at the highest verbosity. Without columns if the client requests the least detail. */
export function tableset(isBrief: boolean, catalogs: Catalogs): string {
  return (
    `${root('tableset', 'tables', 'vs')}>\n` +
    `<schema>\n<name>${SCHEMA_NAME}</name>\n` +
    `${coneTargets(catalogs)
      .map(target => `<table type="output">\n${tableContent(coneTable(target, 3, catalogs), isBrief)}</table>\n`)
      .join('')}` +
    '</schema>\n</vosi:tableset>\n'
  );
}

/** One table. Undefined if no table has that name. */
export function tableDocument(name: string, catalogs: Catalogs): string | undefined {
  const target = coneTargets(catalogs).find(each => `${SCHEMA_NAME}.${each}` === name);
  return (
    target &&
    `${root('table', 'tables', 'vs')} type="output">\n` +
      `${tableContent(coneTable(target, 3, catalogs), false)}</vosi:table>\n`
  );
}

function tableContent({ name, description, columns }: Table, isBrief: boolean): string {
  const listed = isBrief ? '' : columns.map(column => columnElement(column)).join('');
  return `<name>${SCHEMA_NAME}.${name}</name>\n<description>${escapeXml(description)}</description>\n${listed}`;
}

/** @param name the column's name, as queries spell it */
export function columnElement(column: Column, name = column.name, isIndexed = false): string {
  const { description, unit, ucd } = column;
  const { datatype, arraysize, xtype } = datatypeOf(column);
  const size = arraysize ? ` arraysize="${arraysize}"` : '';
  const extended = xtype ? ` extendedType="${xtype}"` : '';
  return (
    `<column><name>${escapeXml(name)}</name><description>${escapeXml(description)}</description>` +
    `${unit === undefined ? '' : `<unit>${escapeXml(unit)}</unit>`}${ucd === undefined ? '' : `<ucd>${escapeXml(ucd)}</ucd>`}` +
    `<dataType xsi:type="vs:VOTableType"${size}${extended}>${datatype}</dataType>` +
    `${isIndexed ? '<flag>indexed</flag>' : ''}</column>\n`
  );
}
