// How many leading elements two lists have in common.

/** How many leading elements of the two lists are the same objects. */
export type SharedPrefix = (left: readonly unknown[], right: readonly unknown[]) => number;

export const sharedPrefix: SharedPrefix = (left, right) => {
  const limit = left === right ? 0 : Math.min(left.length, right.length);
  let index = 0;
  while (index < limit && left[index] === right[index]) index++;
  return left === right ? left.length : index;
};

/**
 * Remembers the last pair: several readers compare the same request to the same older one. Only for
 * lists that never change.
 */
export function rememberedPrefix(): SharedPrefix {
  let last: { left: readonly unknown[]; right: readonly unknown[]; count: number } | undefined;
  return (left, right) => {
    if (last?.left !== left || last.right !== right)
      last = { left, right, count: sharedPrefix(left, right) };
    return last.count;
  };
}
