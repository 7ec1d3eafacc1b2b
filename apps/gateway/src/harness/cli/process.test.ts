import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { startChild } from "../../testing/child.ts";
import { isAlive } from "../../testing/codex/alive.ts";
import { temporaryHome } from "../../testing/home.ts";
import { startProcess } from "./process.ts";

/** Writes down itself and a process that only SIGKILL ends. */
const TWO = `echo $$ > one; (trap "" TERM HUP; sh -c 'echo $$ > two; exec sleep 1000') &
  while [ ! -s two ]; do sleep 0.05; done`;
const SOON = { timeout: 60_000 };

async function begun(folder: string): Promise<number[]> {
  const files = ["one", "two"].map((name) => join(folder, name));
  await vi.waitUntil(() => files.every((file) => existsSync(file)), 60_000);
  return files.map((file) => Number(readFileSync(file, "utf8")));
}

describe.skipIf(process.platform === "win32")("a program of one turn", () => {
  it("ends with all that it began when the gateway is killed", SOON, async () => {
    const folder = await temporaryHome();
    const file = new URL("../../testing/cli/program-process.ts", import.meta.url);
    const child = startChild(file, [folder, `${TWO}; sleep 1000`]);
    const ids = await begun(folder);
    child.process.kill("SIGKILL");
    await vi.waitUntil(() => !ids.some(isAlive), 60_000);
  });

  it("is told from what it wrote last, and leaves nothing running", SOON, async () => {
    const folder = await temporaryHome();
    const lines: string[] = [];
    const { ended } = startProcess({
      ...{ command: "/bin/sh", args: ["-c", `${TWO}; cat; echo; echo last; exit 3`], cwd: folder },
      ...{ env: { PATH: process.env.PATH ?? "" }, stdin: "what is said", keepsStdin: false },
      ...{ onLine: (line) => lines.push(line), onTooLong: () => {}, onBytes: () => {} },
    });
    const ids = await begun(folder);
    expect((await ended).how).toBe("exit code 3");
    expect(lines).toEqual(["what is said", "last"]);
    await vi.waitUntil(() => !ids.some(isAlive), 60_000);
  });
});
