// Reads options of a bench that are all counts.
import { parseArgs } from "node:util";

/** By name, as `--name N`; undefined: they are wrong, or help is asked for. */
export function countOptions<Name extends string>(
  args: readonly string[],
  defaults: Readonly<Record<Name, number>>,
): Record<Name, number> | undefined {
  const names = Object.keys(defaults) as Name[];
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
    const { values } = parseArgs({ args: [...args], options });
    const given = names.map((name) => [name, Number(values[name] ?? defaults[name])] as const);
    const areCounts = given.every(([, each]) => Number.isInteger(each) && each > 0);
    return areCounts ? (Object.fromEntries(given) as Record<Name, number>) : undefined;
  } catch {
    return undefined;
  }
}
