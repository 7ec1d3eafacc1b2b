// Makes a throw-away copy of a checkout, in a repository of its own.
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "./run.mjs";

interface Surroundings {
  env: NodeJS.ProcessEnv;
  signal?: AbortSignal;
}

/** Copies what git knows or would take, as it is now, and commits it in the copy. */
export async function copyCheckout(from: string, to: string, around: Surroundings): Promise<void> {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const { stdout } = await run("git", args, { ...around, cwd: from });
  for (const path of stdout.split("\0").filter((each) => each !== "")) {
    await mkdir(dirname(join(to, path)), { recursive: true });
    await cp(join(from, path), join(to, path), { verbatimSymlinks: true }).catch(ignoreMissing);
  }
  const git = (...words: string[]) => run("git", words, { ...around, cwd: to });
  await git("init", "--quiet", "--initial-branch", "main");
  await git("config", "user.name", "rehearsal");
  await git("config", "user.email", "rehearsal@clew.test");
  await git("config", "commit.gpgsign", "false");
  await git("add", "--all");
  await git("commit", "--quiet", "--message", "rehearsal");
}

/** A file that was deleted and not yet committed. */
function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Changes a JSON file in place. */
export async function editJson(
  file: string,
  edit: (value: Record<string, unknown>) => Record<string, unknown>,
): Promise<void> {
  const value = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
  await writeFile(file, `${JSON.stringify(edit(value), null, 2)}\n`);
}
