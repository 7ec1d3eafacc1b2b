// Answers yes to a program that asks to read in its own folder, as nobody asks there.
import { join } from "node:path";
import type { Approvals } from "../../approvals/queue.ts";
import { isInside, resolveInside, workspaceRoot } from "../../tools/workspace-files.ts";

export interface ReadingPlace {
  /** Where the program works, absolute. */
  cwd: string;
  /** CLEW_HOME. */
  home: string;
}

/** The same queue, but for questions of Claude Code whose answer needs nobody. */
export const readingUnasked = (approvals: Approvals, place: ReadingPlace): Approvals => ({
  ...approvals,
  async ask(request, signal) {
    if (await isOwnReading(request, place)) return { kind: "remembered" };
    return approvals.ask(request, signal);
  },
});

/** Whether it only reads in the folder, and nothing there that is the gateway's own. */
export async function isOwnReading(
  { name, arguments: given }: { name: string; arguments: Record<string, unknown> },
  { cwd, home }: ReadingPlace,
): Promise<boolean> {
  const root = workspaceRoot(cwd);
  if (root === undefined) return false;
  // A search looks at all that is below.
  const isSearch = name === "Glob" || name === "Grep";
  if (isSearch && isInside(root, workspaceRoot(home) ?? home)) return false;
  if (name === "Glob" && !/^(?![/~])(?!.*\.\.)/.test(String(given.pattern))) return false;
  const path = isSearch ? (given.path ?? root) : given.file_path;
  if ((name !== "Read" && !isSearch) || typeof path !== "string") return false;
  const own = { home, configFile: join(home, "clew.json") };
  return resolveInside({ root, own }, path).then(
    () => true,
    () => false,
  );
}
