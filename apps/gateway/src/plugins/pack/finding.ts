// What is said of a package before anybody installs it.

/** Where a plugin may run. */
export type PluginHostName = "clew" | "openclaw";

export interface PackageFinding {
  /** "failure": it would not work there. "note": it would, and its author may want to know. */
  level: "failure" | "note";
  /** The hosts that it is about. */
  hosts: readonly PluginHostName[];
  /** One sentence, or two. */
  text: string;
}

export const BOTH: readonly PluginHostName[] = ["clew", "openclaw"];

export const failure = (text: string, hosts = BOTH): PackageFinding => ({
  ...{ level: "failure", hosts, text },
});
export const note = (text: string, hosts = BOTH): PackageFinding => ({
  ...{ level: "note", hosts, text },
});
