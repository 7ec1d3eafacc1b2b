import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

it("a program that should run turns and is not there is told of by start", async () => {
  const home = await temporaryHome();
  const settings = `{ agents: { defaults: { harness: "codex" } }, harness: { codex: { command: "no-such-codex" } }, gateway: { port: 0 } }`;
  await writeFile(join(home, "clew.json"), settings);
  const gateway = startClew(home, ["start", "--json"], { fromSource: true });
  await gateway.nextLine();
  await vi.waitFor(
    () =>
      expect(gateway.errors()).toMatch(
        /^warning: agent main cannot run: Codex is not there: nothing is called no-such-codex\. Install it /m,
      ),
    { timeout: 20_000 },
  );
  gateway.process.kill("SIGTERM");
  expect(await gateway.exit).toBe(0);
});
