// What an editor is told of sessions that began elsewhere.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { expect, it } from "vitest";
import { ask, person } from "../testing/door-client.ts";
import { startEditor } from "../testing/editor.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel } from "../testing/obedient-model.ts";

it("lists sessions of the door by what was asked in them first, as other lists do", async () => {
  const home = await temporaryHome();
  const { config } = await obedientModel();
  await writeFile(join(home, "clew.json"), JSON.stringify({ ...config, gateway: { port: 1 } }));
  const gateway = await startTestGateway(config, home);
  const { answer } = await ask(gateway, "openai-completions", [person("Why is the sea salt?")], {
    model: "emulated",
  });
  await gateway.gateway.door.settled();
  await gateway.say("hello there");
  const editor = await startEditor(home);
  const { sessions } = await editor.agent.request(methods.agent.session.list, {});
  expect(sessions.map(({ sessionId, title }) => [sessionId, title])).toEqual([
    ["agent:main:main", "hello there"],
    [`agent:main:${answer.headers.get("x-clew-session")}`, "Why is the sea salt?"],
  ]);
  expect(await editor.leave()).toBe(0);
}, 60_000);
