import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../../testing/home.ts";
import { writePlugin } from "../../testing/plugins.ts";
import { clewAtTerminal, hasTerminals } from "../../testing/terminal.ts";

const SOON = { timeout: 60_000 };

describe.runIf(hasTerminals)("an install that is left while it asks", () => {
  it.each([
    ["Ctrl-C", "\u0003"],
    ["Ctrl-D", "\u0004"],
    ["SIGINT", null],
    ["SIGTERM", null],
  ] as const)("by %s leaves nothing behind, and says that nothing was run", async (how, keys) => {
    const home = await temporaryHome();
    const folder = writePlugin(join(await temporaryHome(), "small"));
    const install = clewAtTerminal(home, ["plugins", "install", folder]);
    await expect.poll(install.shown, SOON).toContain("Install it? [y/N]");
    if (keys === null) install.kill(how as NodeJS.Signals);
    else install.type(keys);
    expect(await install.exit).toBe(1);
    expect(install.shown()).toContain('"small" was not installed, and nothing of it was run');
    expect(readdirSync(home).filter((name) => name !== "pid")).toEqual([]);
  });
});
