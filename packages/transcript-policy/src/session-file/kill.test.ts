import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repairSessionFileIfNeeded } from "../session-file.ts";

const REPAIR = fileURLToPath(new URL("../testing/repair-and-die.ts", import.meta.url));

const HEADER = {
  type: "session",
  version: 3,
  id: "s",
  timestamp: "2026-05-01T00:00:00.000Z",
  cwd: "",
};
const said = (id: string, parentId: string | null) =>
  JSON.stringify({
    ...{ type: "message", id, parentId, timestamp: HEADER.timestamp },
    message: { role: "user", content: "x".repeat(200_000) },
  });
const DAMAGED = `${JSON.stringify(HEADER)}\n${said("a", null)}\nnoise\n${said("b", "a")}${said("c", "b")}\n`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "clew-kill-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Repairs in a process that ends at its `step`th step on disk; true when it got to its end. */
async function repairUntil(sessionFile: string, step: number): Promise<boolean> {
  const args = ["--conditions=@clew/source", REPAIR, sessionFile, String(step)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const [code] = await once(child, "exit");
  return code === 0;
}

/** It starts a process for each step, one after the other. */
const LIMIT_MS = 120_000;

describe("a repair that is killed", { timeout: LIMIT_MS }, () => {
  it("leaves the old file or the new one at every step, and the next repair ends what it began", async () => {
    const sound = `${JSON.stringify(HEADER)}\n${said("a", null)}\n${said("b", "a")}\n${said("c", "b")}\n`;
    const seen = new Set<string>();
    for (let step = 1, done = false; !done; step++) {
      const home = join(folder, String(step));
      await mkdir(home);
      const sessionFile = join(home, "s.jsonl");
      await writeFile(sessionFile, DAMAGED);
      done = await repairUntil(sessionFile, step);
      const left = await readFile(sessionFile, "utf8");
      expect([DAMAGED, sound]).toContain(left);
      seen.add(left);
      await repairSessionFileIfNeeded({ sessionFile, keepRemoved: true });
      expect(await readFile(sessionFile, "utf8")).toBe(sound);
      const beside = (await readdir(home)).filter((name) => name !== "s.jsonl");
      expect(beside).toEqual([expect.stringMatching(/^s\.jsonl\.removed-/)]);
      expect(await readFile(join(home, beside[0]!), "utf8")).toBe("noise\n");
    }
    expect(seen.size).toBe(2);
  });
});
