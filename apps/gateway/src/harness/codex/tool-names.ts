// Under which names Codex knows the gateway's tools.

/** Of a tool, as Codex takes it: it keeps some names for itself, and other letters out. */
const allowed = (name: string): string =>
  name
    .replace(/[^\w-]/g, "_")
    .replace(/^mcp__+/, "mcp_")
    .replace(/^mcp$/, "mcp_");

export interface ToolNames {
  /** Also of tools that are not offered any more, as calls of the past have them. */
  theirs(name: string): string;
  /** Undefined: none of ours is called that. */
  ours(name: string): string | undefined;
}

/** Pure. No two tools get one name. */
export function planToolNames(names: readonly string[]): ToolNames {
  const theirs = new Map<string, string>();
  const ours = new Map<string, string>();
  // Who keeps its name has it before others are given one.
  const inOrder = names.toSorted((a, b) => Number(allowed(a) !== a) - Number(allowed(b) !== b));
  for (const name of inOrder) {
    let free = allowed(name);
    for (let next = 2; ours.has(free); next++) free = `${allowed(name)}-${next}`;
    theirs.set(name, free);
    ours.set(free, name);
  }
  return {
    theirs: (name) => theirs.get(name) ?? allowed(name),
    ours: (name) => ours.get(name),
  };
}
