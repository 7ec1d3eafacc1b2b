// Keeps plugins written for OpenClaw away from a person's real OpenClaw files.

const NAME = "OPENCLAW_STATE_DIR";
type Variables = Record<string, string | undefined>;

/** What we set ourselves: it is no operator's choice. */
const given = new WeakMap<Variables, string>();

/**
 * To be called before any plugin is loaded. A folder the operator chose stays. Returns the
 * folder plugins will use.
 */
export function provideStateDir(home: string, variables: Variables = process.env): string {
  const current = variables[NAME]?.trim() ?? "";
  if (current !== "" && current !== given.get(variables)) return current;
  given.set(variables, home);
  variables[NAME] = home;
  return home;
}

/** For a process of its own, in which plugins use `folder`. */
export function variablesWithStateDir(folder: string): Record<string, string | undefined> {
  return { ...process.env, [NAME]: folder };
}
