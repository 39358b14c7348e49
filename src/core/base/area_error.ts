/** A client's string or file is not an area, or exceeds a limit. The message is for the client. */
export class AreaError extends Error {
  override name = 'AreaError';
  readonly param: 'area' | 'level' | 'cursor';

  constructor(message: string, param: AreaError['param'] = 'area') {
    super(message);
    this.param = param;
  }
}

/** @param why what is wrong with the area, and how to fix it */
export function invalidArea(why: string): AreaError {
  return new AreaError(`Cannot read the area because ${why}`);
}
