import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { startChild } from "../../testing/child.ts";
import { isAlive } from "../../testing/codex/alive.ts";
import { temporaryHome } from "../../testing/home.ts";
import { scriptedSettings } from "../../testing/mcp.ts";

it.skipIf(process.platform === "win32")(
  "a server that heeds nothing ends when the gateway is killed",
  { timeout: 60_000 },
  async () => {
    const starts = join(await temporaryHome(), "starts");
    const { command, args } = scriptedSettings("--stubborn", `--starts=${starts}`);
    const file = new URL("../../testing/mcp-process.ts", import.meta.url);
    const child = startChild(file, [command, ...args]);
    const read = () => readFile(starts, "utf8").catch(() => "");
    await vi.waitUntil(async () => (await read()).endsWith("\n"), 60_000);
    const pid = Number(await read());
    expect(isAlive(pid)).toBe(true);
    child.process.kill("SIGKILL");
    await vi.waitUntil(() => !isAlive(pid), 60_000);
  },
);
