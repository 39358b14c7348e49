/**
 * Reads a query of ADQL 2.1 (IVOA recommendation of 2023-12-15, appendix A) into its syntax tree. Beyond the grammar,
 * CASE, TRUE and FALSE are understood, as most services do, and the operator % of the standard's examples.
 */
import { AdqlError } from './adql_error.ts';
import { AGGREGATES } from './aggregates.ts';
import { instead, reservedHint } from './hints.ts';
import { type Token, tokensOf } from './lexer.ts';
import type {
  ArithmeticOperator,
  Body,
  CastType,
  Comparison,
  Expression,
  Item,
  Join,
  Name,
  Query,
  Select,
  TableReference,
} from './syntax.ts';
import { canNameFunction, isReserved } from './words.ts';

/** The maximum depth of the tree, because its walkers are recursive. A chain of AND or of OR is one level. */
const MAX_DEPTH = 200;

/** @throws AdqlError */
export function parse(query: string): Query {
  return new Parser(tokensOf(query)).whole();
}

class Parser {
  readonly #tokens: readonly Token[];
  /** For each opening parenthesis, the index of the token that closes it. */
  readonly #closes: (number | undefined)[] = [];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
    const open: number[] = [];
    for (const [place, { kind, value }] of tokens.entries()) {
      if (kind !== 'symbol') continue;
      if (value === '(') open.push(place);
      else if (value === ')' && open.length > 0) this.#closes[open.pop()!] = place;
    }
  }

  whole(): Query {
    const query = this.#query(true);
    this.#takeSymbol(';');
    if (this.#peek().kind !== 'end') throw this.#expected('the end of the query');
    return query;
  }

  #peek(ahead = 0): Token {
    return this.#tokens[Math.min(this.#next + ahead, this.#tokens.length - 1)]!;
  }

  #expected(what: string): AdqlError {
    const { kind, value, text, at } = this.#peek();
    const found = kind === 'end' ? 'the query ends' : `${text.slice(0, 40)} stands`;
    return new AdqlError(at, `${what} was expected where ${found}${kind === 'word' ? instead(value) : ''}`);
  }

  #isWord(word: string, ahead = 0): boolean {
    const { kind, value } = this.#peek(ahead);
    return kind === 'word' && value === word;
  }

  #isSymbol(symbol: string, ahead = 0): boolean {
    const { kind, value } = this.#peek(ahead);
    return kind === 'symbol' && value === symbol;
  }

  #takeWord(...words: readonly string[]): string | undefined {
    const word = words.find(each => this.#isWord(each));
    if (word) this.#next++;
    return word;
  }

  #takeSymbol<S extends string>(...symbols: readonly S[]): S | undefined {
    const symbol = symbols.find(each => this.#isSymbol(each));
    if (symbol) this.#next++;
    return symbol;
  }

  #needWord(word: string): void {
    if (!this.#takeWord(word)) throw this.#expected(word);
  }

  #needSymbol(symbol: string): void {
    if (!this.#takeSymbol(symbol)) throw this.#expected(symbol);
  }

  /** Calls `read` one level deeper. */
  #deeper<T>(read: () => T): T {
    this.#descend();
    const result = read();
    this.#depth--;
    return result;
  }

  #descend(): void {
    if (++this.#depth > MAX_DEPTH)
      throw new AdqlError(
        this.#peek().at,
        `the query is nested more than ${MAX_DEPTH} levels deep: write it with fewer parentheses, operators and subqueries`,
      );
  }

  /** A chain of left-associative operators. Each makes the tree one level deeper. */
  #chain<T>(first: () => T, further: (left: T) => T | undefined): T {
    const depth = this.#depth;
    let result = first();
    for (let next = further(result); next !== undefined; next = further(result)) {
      result = next;
      this.#descend();
    }
    this.#depth = depth;
    return result;
  }

  #list<T>(read: () => T): T[] {
    const items = [read()];
    while (this.#takeSymbol(',')) items.push(read());
    return items;
  }

  #inParentheses<T>(read: () => T): T {
    this.#needSymbol('(');
    const result = read();
    this.#needSymbol(')');
    return result;
  }

  #name(what: string): Name {
    const { kind, value, text, at } = this.#peek();
    if (kind !== 'word' && kind !== 'name') throw this.#expected(what);
    if (kind === 'word' && isReserved(value)) throw this.#notReserved(what);
    this.#next++;
    return { text: kind === 'word' ? text : value, isExact: kind === 'name', at };
  }

  /** A reserved word stands where a name was expected. */
  #notReserved(what: string): AdqlError {
    const { value, text, at } = this.#peek();
    const { message } = this.#expected(what);
    return new AdqlError(at, instead(value) ? message : `${message}${reservedHint(text)}`);
  }

  #path(what: string, most: number): Name[] {
    const path = [this.#name(what)];
    while (path.length < most && this.#isSymbol('.') && !this.#isSymbol('*', 1)) {
      this.#next++;
      path.push(this.#name('a name'));
    }
    return path;
  }

  /** A name, with or without AS before it. */
  #alias(what: string): Name | undefined {
    if (this.#takeWord('AS')) return this.#name(what);
    const { kind, value } = this.#peek();
    // Words that others write after a table.
    const isForeign =
      (value === 'LIMIT' && this.#peek(1).kind === 'number') || (value === 'CROSS' && this.#isWord('JOIN', 1));
    return kind === 'name' || (kind === 'word' && !isReserved(value) && !isForeign) ? this.#name(what) : undefined;
  }

  #unsigned(what: string): string {
    const { kind, text } = this.#peek();
    if (kind !== 'number' || !/^\d+$/.test(text)) throw this.#expected(what);
    this.#next++;
    return text;
  }

  #query(isWhole = false): Query {
    return this.#deeper(() => {
      const { at } = this.#peek();
      const named = isWhole && this.#takeWord('WITH') ? this.#list(() => this.#namedQuery()) : [];
      const body = this.#union();
      const orderBy = this.#takeWord('ORDER') ? this.#orderBy() : [];
      const offset = this.#takeWord('OFFSET') ? this.#unsigned('the number of rows to leave out') : undefined;
      return { kind: 'query', at, named, body, orderBy, offset };
    });
  }

  #namedQuery() {
    const name = this.#name('the name of a query');
    this.#needWord('AS');
    return { name, query: this.#inParentheses(() => this.#query()) };
  }

  #orderBy() {
    this.#needWord('BY');
    return this.#list(() => {
      const expression = this.#expression();
      const isDescending = this.#takeWord('ASC', 'DESC') === 'DESC';
      return { expression, isDescending };
    });
  }

  #union(): Body {
    return this.#chain(
      () => this.#intersection(),
      left => this.#setOperation(left, ['UNION', 'EXCEPT'], () => this.#intersection()),
    );
  }

  #intersection(): Body {
    return this.#chain(
      () => this.#operand(),
      left => this.#setOperation(left, ['INTERSECT'], () => this.#operand()),
    );
  }

  #setOperation(
    left: Body,
    operators: readonly ('UNION' | 'INTERSECT' | 'EXCEPT')[],
    right: () => Body,
  ): Body | undefined {
    const { at } = this.#peek();
    const operator = operators.find(each => this.#isWord(each));
    if (!operator) return undefined;
    this.#next++;
    const isAll = this.#takeWord('ALL') !== undefined;
    return { kind: 'set', at, operator, isAll, left, right: right() };
  }

  #operand(): Body {
    return this.#isSymbol('(') ? this.#inParentheses(() => this.#query()) : this.#select();
  }

  #select(): Select {
    const { at } = this.#peek();
    this.#needWord('SELECT');
    const isDistinct = this.#takeWord('DISTINCT', 'ALL') === 'DISTINCT';
    const top = this.#takeWord('TOP') ? this.#unsigned('the number of rows') : undefined;
    const items = this.#list(() => this.#item());
    this.#needWord('FROM');
    const from = this.#list(() => this.#tableReference());
    const where = this.#takeWord('WHERE') ? this.#expression() : undefined;
    const groupBy = this.#takeWord('GROUP') ? this.#groupBy() : [];
    const having = this.#takeWord('HAVING') ? this.#expression() : undefined;
    return { kind: 'select', at, isDistinct, top, items, from, where, groupBy, having };
  }

  #groupBy(): Expression[] {
    this.#needWord('BY');
    return this.#list(() => this.#expression());
  }

  #item(): Item {
    const { at } = this.#peek();
    if (this.#takeSymbol('*')) return { kind: 'all', at, qualifier: [] };
    const qualifier = this.#allOf();
    if (qualifier) return { kind: 'all', at, qualifier };
    const expression = this.#expression();
    return { kind: 'one', at, expression, name: this.#alias('the name of a column') };
  }

  /** The table of `table.*`. */
  #allOf(): Name[] | undefined {
    let ahead = 0;
    while (['word', 'name'].includes(this.#peek(ahead).kind) && this.#isSymbol('.', ahead + 1)) ahead += 2;
    if (ahead === 0 || !this.#isSymbol('*', ahead)) return undefined;
    const path = this.#path('the name of a table', ahead / 2);
    this.#next += 2;
    return path;
  }

  #tableReference(): TableReference {
    return this.#deeper(() =>
      this.#chain(
        () => this.#table(),
        left => this.#join(left),
      ),
    );
  }

  #table(): TableReference {
    const { at } = this.#peek();
    if (this.#isSymbol('('))
      return this.#holdsQuery(this.#next) ? this.#derived(at) : this.#inParentheses(() => this.#joined());
    const path = this.#path('the name of a table', 3);
    return { kind: 'table', at, path, alias: this.#alias('the name of a table') };
  }

  /** Whether the parenthesis that opens at a token encloses a query rather than a joined table. */
  #holdsQuery(opens: number): boolean {
    for (let place = opens; ; place++) {
      const { kind, value } = this.#tokens[place + 1]!;
      if (kind === 'word') return value === 'SELECT';
      if (kind !== 'symbol' || value !== '(') return false;
      const after = this.#tokens[(this.#closes[place + 1] ?? this.#tokens.length - 2) + 1]!;
      if (after.kind === 'word') return ['UNION', 'INTERSECT', 'EXCEPT', 'ORDER', 'OFFSET'].includes(after.value);
      if (after.kind !== 'symbol' || after.value !== ')') return false;
    }
  }

  #joined(): TableReference {
    const table = this.#tableReference();
    if (table.kind !== 'join') throw this.#expected('JOIN');
    return table;
  }

  #derived(at: number): TableReference {
    const query = this.#inParentheses(() => this.#query());
    const alias = this.#alias('a name for this query');
    if (!alias) throw this.#expected('a name for this query');
    return { kind: 'derived', at, query, alias };
  }

  #join(left: TableReference): Join | undefined {
    const { at } = this.#peek();
    const isNatural = this.#takeWord('NATURAL') !== undefined;
    const type = (this.#takeWord('INNER', 'LEFT', 'RIGHT', 'FULL') ?? '') as Join['type'] | '';
    if (type !== '' && type !== 'INNER') this.#takeWord('OUTER');
    if (!this.#takeWord('JOIN')) {
      if (isNatural || type !== '') throw this.#expected('JOIN');
      return undefined;
    }
    const right = this.#deeper(() => this.#table());
    const by = isNatural ? ({ kind: 'natural' } as const) : this.#joinedBy();
    return { kind: 'join', at, type: type === '' ? 'INNER' : type, left, right, by };
  }

  #joinedBy(): Join['by'] {
    if (this.#takeWord('ON')) return { kind: 'on', condition: this.#expression() };
    if (!this.#takeWord('USING')) throw this.#expected('ON or USING');
    return { kind: 'using', names: this.#inParentheses(() => this.#list(() => this.#name('the name of a column'))) };
  }

  #expression(): Expression {
    return this.#deeper(() => this.#logic('OR', () => this.#logic('AND', () => this.#negation())));
  }

  #logic(operator: 'AND' | 'OR', read: () => Expression): Expression {
    const { at } = this.#peek();
    const of = [read()];
    while (this.#takeWord(operator)) of.push(read());
    return of.length === 1 ? of[0]! : { kind: 'logic', at, operator, of };
  }

  #negation(): Expression {
    const { at } = this.#peek();
    if (!this.#takeWord('NOT')) return this.#predicate();
    return this.#deeper(() => ({ kind: 'not', at, of: this.#negation() }));
  }

  /** A value, or a comparison of values. */
  #predicate(): Expression {
    const { at } = this.#peek();
    if (this.#takeWord('EXISTS')) return { kind: 'exists', at, query: this.#inParentheses(() => this.#query()) };
    const left = this.#sum();
    const operatorAt = this.#peek().at;
    const operator = this.#takeSymbol('=', '<>', '!=', '<=', '>=', '<', '>');
    if (operator) {
      const comparison: Comparison = operator === '!=' ? '<>' : operator;
      return { kind: 'comparison', at: operatorAt, operator: comparison, of: [left, this.#sum()] };
    }
    if (this.#takeWord('IS')) {
      const isNot = this.#takeWord('NOT') !== undefined;
      this.#needWord('NULL');
      return { kind: 'isNull', at, of: left, isNot };
    }
    const isNot = ['BETWEEN', 'IN', 'LIKE', 'ILIKE'].some(each => this.#isWord(each, 1)) && !!this.#takeWord('NOT');
    switch (this.#takeWord('BETWEEN', 'IN', 'LIKE', 'ILIKE')) {
      case 'BETWEEN': {
        const low = this.#sum();
        this.#needWord('AND');
        return { kind: 'between', at: operatorAt, of: [left, low, this.#sum()], isNot };
      }
      case 'IN':
        if (this.#isSymbol('(') && this.#startsQuery(1))
          return { kind: 'inQuery', at: operatorAt, of: left, query: this.#inParentheses(() => this.#query()), isNot };
        return {
          kind: 'inList',
          at: operatorAt,
          of: left,
          list: this.#inParentheses(() => this.#list(() => this.#sum())),
          isNot,
        };
      case 'LIKE':
        return { kind: 'like', at: operatorAt, of: [left, this.#sum()], ignoresCase: false, isNot };
      case 'ILIKE':
        return { kind: 'like', at: operatorAt, of: [left, this.#sum()], ignoresCase: true, isNot };
      default:
        return left;
    }
  }

  /** Whether SELECT follows, after parentheses only. */
  #startsQuery(ahead: number): boolean {
    let place = ahead;
    while (this.#isSymbol('(', place)) place++;
    return this.#isWord('SELECT', place);
  }

  #sum(): Expression {
    return this.#operators(['+', '-', '||'], () => this.#operators(['*', '/', '%'], () => this.#signed()));
  }

  #operators(operators: readonly ArithmeticOperator[], read: () => Expression): Expression {
    return this.#chain(read, left => {
      const { at } = this.#peek();
      const operator = this.#takeSymbol(...operators);
      return operator && { kind: 'arithmetic', at, operator, of: [left, read()] };
    });
  }

  #signed(): Expression {
    const { at } = this.#peek();
    const sign = this.#takeSymbol('+', '-');
    if (!sign) return this.#primary();
    return { kind: 'signed', at, sign, of: this.#deeper(() => this.#signed()) };
  }

  #primary(): Expression {
    const { kind, value, at } = this.#peek();
    if (kind === 'number' || kind === 'string') {
      this.#next++;
      return { kind, at, text: value };
    }
    if (this.#isSymbol('(')) {
      if (this.#startsQuery(1))
        throw new AdqlError(at, 'a subquery is not a value: it is allowed in FROM, after IN and after EXISTS');
      return this.#inParentheses(() => this.#expression());
    }
    if (this.#takeWord('NULL')) return { kind: 'null', at };
    if (this.#takeWord('TRUE')) return { kind: 'boolean', at, value: true };
    if (this.#takeWord('FALSE')) return { kind: 'boolean', at, value: false };
    if (this.#takeWord('CASE')) return this.#case(at);
    if (kind === 'word' && this.#isSymbol('(', 1) && canNameFunction(value)) {
      this.#next++;
      return this.#deeper(() => this.#call(value, at));
    }
    if (kind === 'word' && isReserved(value)) throw this.#notReserved('a value');
    return { kind: 'column', at, path: this.#path('a value', 4) };
  }

  #case(at: number): Expression {
    return this.#deeper(() => {
      const subject = this.#isWord('WHEN') ? undefined : this.#expression();
      const cases: { when: Expression; result: Expression }[] = [];
      do {
        this.#needWord('WHEN');
        const when = this.#expression();
        this.#needWord('THEN');
        cases.push({ when, result: this.#expression() });
      } while (this.#isWord('WHEN'));
      const otherwise = this.#takeWord('ELSE') ? this.#expression() : undefined;
      this.#needWord('END');
      return { kind: 'case', at, subject, cases, otherwise };
    });
  }

  /** A call, from the parenthesis after the function's name on. */
  #call(name: string, at: number): Expression {
    this.#needSymbol('(');
    if (name === 'COUNT' && this.#takeSymbol('*')) {
      this.#needSymbol(')');
      return { kind: 'countAll', at };
    }
    if (name === 'CAST') {
      const of = this.#expression();
      this.#needWord('AS');
      const type = this.#castType();
      this.#needSymbol(')');
      return { kind: 'cast', at, of, type };
    }
    const isDistinct = Object.hasOwn(AGGREGATES, name) && this.#takeWord('DISTINCT', 'ALL') === 'DISTINCT';
    const of = this.#isSymbol(')') ? [] : this.#list(() => this.#expression());
    // SUBSTRING(text FROM start FOR length), as SQL spells it.
    if (name === 'SUBSTRING' && of.length === 1)
      for (const word of ['FROM', 'FOR']) if (this.#takeWord(word)) of.push(this.#expression());
    this.#needSymbol(')');
    return { kind: 'call', at, name, of, isDistinct };
  }

  #castType(): CastType {
    if (this.#takeWord('CHAR', 'VARCHAR')) {
      if (!this.#isSymbol('(')) return { characters: undefined };
      return { characters: Number(this.#inParentheses(() => this.#unsigned('the number of characters'))) };
    }
    if (this.#takeWord('DOUBLE')) {
      this.#needWord('PRECISION');
      return 'DOUBLE';
    }
    if (this.#takeWord('INT')) return 'INTEGER';
    const type = this.#takeWord(...CAST_TYPES);
    if (!type) throw this.#expected(`one of ${CAST_TYPES.join(', ')}, DOUBLE PRECISION, CHAR, VARCHAR`);
    return type as CastType;
  }
}

const CAST_TYPES = ['SMALLINT', 'INTEGER', 'BIGINT', 'REAL', 'TIMESTAMP', 'POINT', 'CIRCLE', 'POLYGON'] as const;
