// Keeps plugins written for OpenClaw away from a person's real OpenClaw files.

const NAME = "OPENCLAW_STATE_DIR";
/** What we set ourselves: it is no operator's choice. */
let given: string | undefined;

/** To be called before any plugin is loaded. A folder the operator chose stays. Returns the folder plugins will use. */
export function provideStateDir(
  home: string,
  variables: Record<string, string | undefined> = process.env,
): string {
  const current = variables[NAME]?.trim() ?? "";
  if (current !== "" && current !== given) return current;
  given = home;
  variables[NAME] = home;
  return home;
}
