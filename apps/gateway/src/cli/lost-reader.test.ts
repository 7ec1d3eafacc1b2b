import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startClew } from "../testing/command.ts";
import { post } from "../testing/gateway.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { engineCode, writePlugin } from "../testing/plugins.ts";

it("a gateway whose output nobody reads any more goes on, whatever fails, and stops when told", async () => {
  const home = await homeWithOwnPort();
  const code = engineCode("failing", `assemble() { throw new Error("no view"); },`);
  const folder = writePlugin(join(home, "sources/failing"), { id: "failing", code });
  const { gateway } = JSON.parse(await readFile(join(home, "clew.json"), "utf8"));
  const plugins = { load: { paths: [folder] }, slots: { contextEngine: "failing" } };
  await writeFile(join(home, "clew.json"), JSON.stringify({ gateway, plugins }));
  const child = startClew(home, ["start"]);
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(await child.nextLine())![0];
  for (const stream of [child.process.stdout, child.process.stderr]) stream!.destroy();

  const say = async (session: string) => {
    const answer = await fetch(`${url}/api/sessions/${session}/messages`, post({ text: "hello" }));
    return answer.text();
  };
  for (const session of ["one", "two"]) expect(await say(session)).toContain('"completed"');
  child.process.kill("SIGTERM");
  await expect.poll(() => child.process.exitCode).toBe(0);

  const log = await readFile(join(home, "logs/gateway.log"), "utf8");
  expect(log.match(/nobody reads the standard error/g)).toHaveLength(1);
  expect(log).toContain("no view");
  expect(log).toContain("gateway stopped");
  expect(log.split("\n").length).toBeLessThan(200);
});
