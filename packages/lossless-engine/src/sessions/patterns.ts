// Which sessions a pattern names.

/** True when one of the patterns names the key: `*` stands for no colon, `**` for anything. */
export function namesSession(patterns: readonly string[], sessionKey: string | undefined): boolean {
  return sessionKey !== undefined && patterns.some((pattern) => asRegExp(pattern).test(sessionKey));
}

const asRegExp = (pattern: string) =>
  new RegExp(
    `^${pattern
      .split(/(\*\*|\*)/)
      .map((part) => (part === "**" ? ".*" : part === "*" ? "[^:]*" : escaped(part)))
      .join("")}$`,
    "s",
  );

const escaped = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
