import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { forgetInPrograms } from "./programs.ts";

it("takes the threads of an agent and the sessions of programs that hold it, and no others", async () => {
  const home = await temporaryHome();
  const files = {
    "agents/a/harness/codex/loop/sessions/2026/11/28/rollout-1.jsonl": "the zebra",
    "agents/a/harness/codex/loop/state_5.sqlite": "nothing",
    "agents/a/harness/codex-threads/1.json": "{}",
    "agents/a/harness/claude-cli/one/home/x.jsonl": "a zebra too",
    "agents/a/harness/claude-cli/one/session.json": "{}",
    "agents/a/harness/claude-cli/two/session.json": "{}",
    "agents/b/harness/codex/loop/state_5.sqlite": "nothing",
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, file)), { recursive: true });
    await writeFile(join(home, file), text);
  }
  await forgetInPrograms(home, (text) => text.includes("zebra"));
  expect(Object.keys(files).filter((file) => existsSync(join(home, file)))).toEqual([
    "agents/a/harness/claude-cli/two/session.json",
    "agents/b/harness/codex/loop/state_5.sqlite",
  ]);
});
