/** The types of the library, which the service gives to browsers under this name. */
export * from 'lit-html';
