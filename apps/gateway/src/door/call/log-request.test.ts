// Asks at the door of a gateway and reads what its log says of that.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { expect, it, onTestFinished } from "vitest";
import { ask, person } from "../../testing/door-client.ts";
import { emulatedModel, startTestGateway } from "../../testing/gateway.ts";
import { obey } from "../../testing/obedient-model.ts";

it("each request at the door has a line of the log, by client, session, wire and outcome", async () => {
  const server = await createOpenAIEmulator({ answers: obey });
  onTestFinished(() => server.close());
  const { home, gateway, get } = await startTestGateway(emulatedModel(server.baseUrl));
  const headers = { "user-agent": "agent/1 (of some kind)" };
  const api = "openai-completions";
  await ask({ get }, api, [person("one")], { session: "work", headers });
  await ask({ get }, api, [person("two")], { model: "emulated", headers });
  await gateway.door.settled();
  await ask({ get }, api, [person("FAIL")], { session: "work", headers });
  const text = await readFile(join(home, "logs/gateway.log"), "utf8");
  const lines = text
    .split("\n")
    .filter((line) => line.includes("request at the door"))
    .map((line) => JSON.parse(line) as object);
  const by = { client: "agent/1", wire: api, durationMs: expect.any(Number) };
  const tokens = { inputTokens: expect.any(Number), outputTokens: expect.any(Number) };
  expect(lines).toEqual([
    expect.objectContaining({
      ...{ ...by, ...tokens, sessionKey: "agent:main:work", model: "clew", kind: "session" },
      outcome: "completed",
    }),
    expect.objectContaining({
      ...{ ...by, ...tokens, sessionKey: expect.stringMatching(/^agent:main:chat-/) },
      ...{ model: "emulated/emulated", kind: "turn", outcome: "completed" },
    }),
    expect.objectContaining({ ...by, sessionKey: "agent:main:work", outcome: "failed" }),
  ]);
  expect(text).not.toContain("heard: one");
});
