// Tries programs that are started once per turn in sessions that an editor holds.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CLI_KINDS } from "../../config/harness.ts";
import { cliWorld } from "../../testing/cli/world.ts";
import { temporaryHome } from "../../testing/home.ts";

const KEY = "agent:main:acp:tide";

describe.each(CLI_KINDS)("%s", (kind) => {
  it("works in a folder of the agent's own, never in the gateway's", async () => {
    const world = await cliWorld({ kind });
    const workspace = join(world.home, "agents/main/workspace");
    await rm(workspace, { recursive: true });
    await world.say("where are you?");
    expect(world.starts()).toMatchObject([{ cwd: workspace }]);
    await world.restart({ workspace: join(world.home, "not-there") });
    const { error, report } = await world.say("and now?");
    expect(report.code).toBe("HARNESS_UNAVAILABLE");
    expect(error?.message).toMatch(/is not there: make .*not-there, or name another one/);
    expect(world.starts()).toHaveLength(1);
  }, 60_000);
});

describe.each(CLI_KINDS)("%s in an editor's session", (kind) => {
  it("works in the folder that is open there, and changes nothing in the mode Read only", async () => {
    const world = await cliWorld({ kind, backend: { sandbox: "workspace-write" } });
    const project = await temporaryHome();
    const { gateway } = world.gateway;
    gateway.editors.hold(KEY, { cwd: project, client: {} });
    await gateway.editors.change(KEY, { cwd: project });
    await gateway.send({ key: KEY, content: "where are you?" });
    await gateway.editors.change(KEY, { mode: "read" });
    await gateway.send({ key: KEY, content: "and now?" });
    const [asking, reading] = world.starts();
    if (kind === "codex-cli") {
      expect(asking?.args.slice(1, 5)).toEqual(["--sandbox", "workspace-write", "--cd", project]);
      expect(reading?.args.slice(1, 5)).toEqual(["--sandbox", "read-only", "--cd", project]);
    } else {
      expect(asking?.args).toContain("--permission-prompt-tool");
      expect(reading?.args).not.toContain("--permission-prompt-tool");
    }
  }, 60_000);
});
