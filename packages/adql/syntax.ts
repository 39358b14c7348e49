/** The syntax tree of a query. Each node has its offset in the query: `at`. */

export interface Name {
  readonly text: string;
  /** Whether the name is in double quotes, so that its case counts. */
  readonly isExact: boolean;
  readonly at: number;
}

export interface Query {
  readonly kind: 'query';
  readonly at: number;
  readonly named: readonly { readonly name: Name; readonly query: Query }[];
  readonly body: Body;
  readonly orderBy: readonly { readonly expression: Expression; readonly isDescending: boolean }[];
  readonly offset: string | undefined;
}

export type Body = Select | SetOperation | Query;

export interface SetOperation {
  readonly kind: 'set';
  readonly at: number;
  readonly operator: 'UNION' | 'INTERSECT' | 'EXCEPT';
  readonly isAll: boolean;
  readonly left: Body;
  readonly right: Body;
}

export interface Select {
  readonly kind: 'select';
  readonly at: number;
  readonly isDistinct: boolean;
  readonly top: string | undefined;
  readonly items: readonly Item[];
  /** Joined by commas. */
  readonly from: readonly TableReference[];
  readonly where: Expression | undefined;
  readonly groupBy: readonly Expression[];
  readonly having: Expression | undefined;
}

export type Item =
  | { readonly kind: 'all'; readonly at: number; readonly qualifier: readonly Name[] }
  | { readonly kind: 'one'; readonly at: number; readonly expression: Expression; readonly name: Name | undefined };

export type TableReference =
  | { readonly kind: 'table'; readonly at: number; readonly path: readonly Name[]; readonly alias: Name | undefined }
  | { readonly kind: 'derived'; readonly at: number; readonly query: Query; readonly alias: Name }
  | Join;

export interface Join {
  readonly kind: 'join';
  readonly at: number;
  readonly type: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL';
  readonly left: TableReference;
  readonly right: TableReference;
  readonly by:
    | { readonly kind: 'natural' }
    | { readonly kind: 'on'; readonly condition: Expression }
    | { readonly kind: 'using'; readonly names: readonly Name[] };
}

export type Comparison = '=' | '<>' | '<' | '>' | '<=' | '>=';

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%' | '||';

interface Kinds {
  number: { readonly text: string };
  string: { readonly text: string };
  boolean: { readonly value: boolean };
  null: object;
  column: { readonly path: readonly Name[] };
  /** `name` is in upper case. */
  call: { readonly name: string; readonly of: readonly Expression[]; readonly isDistinct: boolean };
  countAll: object;
  signed: { readonly sign: '+' | '-'; readonly of: Expression };
  arithmetic: { readonly operator: ArithmeticOperator; readonly of: readonly [Expression, Expression] };
  cast: { readonly of: Expression; readonly type: CastType };
  case: {
    readonly subject: Expression | undefined;
    readonly cases: readonly { readonly when: Expression; readonly result: Expression }[];
    readonly otherwise: Expression | undefined;
  };
  comparison: { readonly operator: Comparison; readonly of: readonly [Expression, Expression] };
  between: { readonly of: readonly [value: Expression, low: Expression, high: Expression]; readonly isNot: boolean };
  inList: { readonly of: Expression; readonly list: readonly Expression[]; readonly isNot: boolean };
  inQuery: { readonly of: Expression; readonly query: Query; readonly isNot: boolean };
  like: { readonly of: readonly [Expression, Expression]; readonly ignoresCase: boolean; readonly isNot: boolean };
  isNull: { readonly of: Expression; readonly isNot: boolean };
  exists: { readonly query: Query };
  /** The operands, at least two. */
  logic: { readonly operator: 'AND' | 'OR'; readonly of: readonly Expression[] };
  not: { readonly of: Expression };
}

export type Expression = {
  readonly [Kind in keyof Kinds]: { readonly kind: Kind; readonly at: number } & Kinds[Kind];
}[keyof Kinds];

export type CastType =
  | 'SMALLINT'
  | 'INTEGER'
  | 'BIGINT'
  | 'REAL'
  | 'DOUBLE'
  | 'TIMESTAMP'
  | CastShape
  /** The maximum number of characters. */
  | { readonly characters: number | undefined };

/** A shape as DALI's string of numbers. */
export type CastShape = 'POINT' | 'CIRCLE' | 'POLYGON';
