// Says what a Node version or a system lacks, from lacks.json.
import { readFileSync } from "node:fs";

/**
 * @typedef {object} Lack
 * @property {string} what
 * @property {string} why
 * @property {string[]} [checks] checks that are left out; none: nothing
 * checks it anywhere else either
 * @property {string[]} [systems] values of process.platform; none: every system
 * @property {string} [below] the Node version that has it; none: every Node
 */

/** @type {Lack[]} */
export const LACKS = JSON.parse(readFileSync(new URL("lacks.json", import.meta.url), "utf8"));

/**
 * Pure. What this Node on this system lacks.
 *
 * @param {{ node: string, system: string, lacks?: Lack[] }} place
 * @returns {Lack[]}
 */
export function lacksOf({ node, system, lacks = LACKS }) {
  return lacks.filter(
    ({ systems, below }) =>
      (systems === undefined || systems.includes(system)) &&
      (below === undefined || isBelow(node, below)),
  );
}

/**
 * Pure. Compares two versions by number: 22.9 is below 22.15.
 *
 * @param {string} version
 * @param {string} floor
 */
export function isBelow(version, floor) {
  const [a, b] = [version, floor].map((text) => text.split(".").map(Number));
  for (let place = 0; place < b.length; place += 1)
    if ((a[place] ?? 0) !== b[place]) return (a[place] ?? 0) < b[place];
  return false;
}
