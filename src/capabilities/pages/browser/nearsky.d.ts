/** The types of the client, which the service gives to browsers under this name. */
export * from '../../../../clients/typescript/nearsky.js';
