/**
 * The conditions of outer joins. DuckDB uses a hash join for an equality if each side has columns of one table only.
 * For any other condition in an outer join, it compares all pairs of rows.
 */

import { FUNCTIONS } from './functions.ts';
import type { Expression, Join, Name } from './syntax.ts';

export type Side = 'left' | 'right';
export type OuterType = Exclude<Join['type'], 'INNER'>;

/** The sides whose columns an expression has. An expression with a subquery or a random number counts as both. */
function sidesOf(expression: Expression, sideOf: (path: readonly Name[]) => Side | undefined): ReadonlySet<Side> {
  if (expression.kind === 'column') {
    const side = sideOf(expression.path);
    return new Set(side ? [side] : BOTH);
  }
  const isRandom =
    expression.kind === 'call' && Object.hasOwn(FUNCTIONS, expression.name) && FUNCTIONS[expression.name]!.isRandom;
  if (isRandom || 'query' in expression) return new Set(BOTH);
  return new Set(partsOf(expression).flatMap(each => [...sidesOf(each, sideOf)]));
}

const BOTH: readonly Side[] = ['left', 'right'];

/** The direct parts of an expression, without those in subqueries. */
export function partsOf(expression: Expression): readonly Expression[] {
  const parts: Expression[] = [];
  if ('of' in expression) parts.push(...(Array.isArray(expression.of) ? expression.of : [expression.of as Expression]));
  if (expression.kind === 'inList') parts.push(...expression.list);
  if (expression.kind !== 'case') return parts;
  const { subject, cases, otherwise } = expression;
  return [
    ...cases.flatMap(({ when, result }) => [when, result]),
    ...[subject, otherwise].filter(each => each !== undefined),
  ];
}

function conjuncts(condition: Expression): readonly Expression[] {
  return condition.kind === 'logic' && condition.operator === 'AND' ? condition.of.flatMap(conjuncts) : [condition];
}

const conjunction = (at: number, of: readonly Expression[]): Expression =>
  of.length === 1 ? of[0]! : { kind: 'logic', at, operator: 'AND', of };

/** An equality of an outer join, with the tests on one side: a row that fails them has no partner. */
function guarded(key: Expression & { kind: 'comparison' }, side: 0 | 1, when: readonly Expression[]): typeof key {
  if (when.length === 0) return key;
  const { at } = key;
  const result = key.of[side];
  const value: Expression = {
    kind: 'case',
    at,
    subject: undefined,
    cases: [{ when: conjunction(at, when), result }],
    otherwise: undefined,
  };
  return { ...key, of: side === 0 ? [value, key.of[1]] : [key.of[0], value] };
}

/**
 * @returns the condition of an outer join, in which one equality includes the tests on preserved rows; whether another condition
 *   needs pairs of rows
 */
export function outerCondition(
  type: OuterType,
  condition: Expression,
  sideOf: (path: readonly Name[]) => Side | undefined,
): { readonly condition: Expression; readonly isMixed: boolean; readonly hasKey: boolean } {
  const own: Record<Side, Expression[]> = { left: [], right: [] };
  const rest: Expression[] = [];
  let key: (Expression & { kind: 'comparison' }) | undefined;
  let isMixed = false;
  for (const each of conjuncts(condition)) {
    const sides = sidesOf(each, sideOf);
    const parts = partsOf(each).map(part => sidesOf(part, sideOf));
    const isApart = parts.every(part => part.size === 1) && parts.slice(1).every(part => !part.isSubsetOf(parts[0]!));
    const isCompared = (each.kind === 'comparison' || (each.kind === 'between' && !each.isNot)) && isApart;
    if (isCompared && each.kind === 'comparison' && each.operator === '=' && !key) {
      const [first] = parts[0]!;
      key = first === 'left' ? each : { ...each, of: [each.of[1], each.of[0]] };
    } else if (isCompared) rest.push(each);
    else if (sides.size === 2) {
      rest.push(each);
      isMixed = true;
    } else own[[...sides][0] ?? (type === 'RIGHT' ? 'right' : 'left')].push(each);
  }
  if (!key) return { condition, isMixed, hasKey: false };
  // Tests on the other side are applied to its rows before the join.
  const folded = guarded(guarded(key, 0, type === 'RIGHT' ? [] : own.left), 1, type === 'LEFT' ? [] : own.right);
  const before = type === 'LEFT' ? own.right : type === 'RIGHT' ? own.left : [];
  return { condition: conjunction(condition.at, [folded, ...before, ...rest]), isMixed, hasKey: true };
}
