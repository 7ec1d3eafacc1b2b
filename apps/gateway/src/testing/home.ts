// A throw-away $CLEW_HOME for one test.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "clew-test-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}
