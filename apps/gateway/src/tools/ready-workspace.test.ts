import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";

const toolsOf = async ({ gateway }: Awaited<ReturnType<typeof startTestGateway>>) =>
  (
    (await gateway.command("main", { kind: "command", name: "tools", args: "" })) as {
      text: string;
    }
  ).text;

it("an agent's own folder is made once tools may change something, and not before", async () => {
  const looking = await startTestGateway();
  await looking.say("hello");
  expect(await toolsOf(looking)).not.toMatch(/file|workspace/);
  expect(existsSync(join(looking.home, "agents/main/workspace"))).toBe(false);
  const writing = await startTestGateway({ tools: { write: "ask" } });
  expect(await toolsOf(writing)).toContain("write_file");
  expect(existsSync(join(writing.home, "agents/main/workspace"))).toBe(true);
});

it("a folder that a person named is not made, and /tools says what is missing", async () => {
  const workspace = join(await temporaryHome(), "work");
  const host = await startTestGateway({
    agents: { defaults: { workspace } },
    tools: { write: "ask" },
  });
  await host.say("hello");
  const told = await toolsOf(host);
  expect(told).not.toContain("write_file");
  expect(told).toContain(
    `None for files and commands is offered: the workspace ${workspace} is not there; make the folder`,
  );
  expect(existsSync(workspace)).toBe(false);
});
