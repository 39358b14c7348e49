/** Names that the tables have in common. */
export const SCHEMA = 'nearsky';
export const PIXEL = 'healpix_29';
export const ID = 'diaObjectId';
/** The columns of the position of an object. */
export const POSITION = { ra: 'ra', dec: 'dec', pixel: PIXEL };
