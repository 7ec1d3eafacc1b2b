// Names of the door's settings that nobody knows, as each command tells of them.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { clew, startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

const WIRE = "openai-completions";
const SENTENCE = `door.upstreams.${WIRE}.provider names "uchta", which is no provider. Did you mean "uchat"? Correct that name`;

it("a provider of the door that nobody knows is told by validate, doctor, start and the log", async () => {
  const home = await temporaryHome();
  const uchat = { api: WIRE, baseUrl: "http://127.0.0.1:9/v1", models: [{ id: "m" }] };
  const config = {
    gateway: { port: 0 },
    models: { providers: { uchat } },
    door: { upstreams: { [WIRE]: { provider: "uchta" } } },
  };
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  expect((await clew(home, ["config", "validate"])).output).toContain(`warning: ${SENTENCE}`);
  const gateway = startClew(home, ["start", "--json"], { fromSource: true });
  const { url } = JSON.parse(await gateway.nextLine()) as { url: string };
  expect(gateway.errors()).toContain(`warning: ${SENTENCE}`);
  const { code, output } = await clew(home, ["doctor"]);
  expect([code, output]).toEqual([1, expect.stringContaining(`FAILURE  door: ${SENTENCE}`)]);
  const asked = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] }),
  });
  expect([asked.status, await asked.text()]).toEqual([404, expect.stringContaining("uchta")]);
  const logged = (await clew(home, ["logs", "--level", "warn"])).output;
  expect(logged).toContain(SENTENCE);
  gateway.process.kill("SIGTERM");
  expect(await gateway.exit).toBe(0);
});

it("a name of the door is judged as soon as it is set", async () => {
  const home = await temporaryHome();
  const set = (name: string, value: string) => clew(home, ["config", "set", name, value]);
  expect((await set("door.agent", "man")).errors).toContain('Did you mean "main"?');
  expect((await set("door.agent", "main")).errors).toBe("");
});
