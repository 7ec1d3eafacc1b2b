import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { startClew } from "../src/testing/command.ts";
import { homeWithOwnPort } from "../src/testing/home.ts";
import { hasBrowser, say, usePages } from "./testing/browser.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const run = promisify(execFile);

describe.skipIf(!hasBrowser)("the three things to try that a start prints", () => {
  const { openPage } = usePages();

  it("work as they are printed, one after the other", async () => {
    const home = await homeWithOwnPort();
    const gateway = startClew(home, ["start"], { env: { npm_lifecycle_event: "start" } });
    const inShell = (command: string) =>
      run("/bin/sh", ["-c", command], { cwd: ROOT, env: { ...process.env, CLEW_HOME: home } });
    await expect.poll(() => gateway.lines.join("\n"), { timeout: 60_000 }).toContain("Ctrl-C");
    const printed = gateway.lines.join("\n");
    const [, link, said] = /1\. Open (\S+) .*, say "(.+?)" and watch/.exec(printed)!;
    const [, curl] = /2\. Ask from another terminal: (.+)/.exec(printed)!;
    const [, replay] = /3\. Run a recorded session through the engine: (.+)/.exec(printed)!;

    const { page, errors, foreign } = await openPage(link!);
    await say(page, said!);
    await page.locator(".reply").first().waitFor();
    expect([errors, foreign]).toEqual([[], []]);

    const asked = await inShell(curl!);
    expect(asked.stdout).toContain("My cat is called Minka.");

    const replayed = await inShell(replay!);
    expect(replayed.stdout).toMatch(/\btokens\b/);
    gateway.process.kill("SIGTERM");
    expect(await gateway.exit).toBe(0);
  });
});
