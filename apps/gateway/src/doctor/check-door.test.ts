import { expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ConfigSchema } from "../config/schema.ts";
import { temporaryHome } from "../testing/home.ts";
import { checkDoor } from "./check-door.ts";

const provider = (id: string, api: string) => ({
  ...{ api, baseUrl: `http://127.0.0.1:9/${id}`, models: [{ id: "up-model" }, { id: "small" }] },
});

async function check(door: object, more: object = {}) {
  const home = await temporaryHome();
  const config = ConfigSchema.parse({
    agents: { defaults: { model: "uchat/up-model" } },
    models: {
      providers: {
        uchat: provider("uchat", "openai-completions"),
        uanth: provider("uanth", "anthropic-messages"),
      },
    },
    door,
    ...more,
  });
  const found = checkDoor(readEnvironment({ CLEW_HOME: home, HOME: home }), { config });
  return found.map(({ level, code, text }) => ({ level, code, text }));
}

const upstream = (settings: object) => ({ upstreams: { "openai-completions": settings } });

it("the doctor says which provider of the door nobody knows, and which was meant", async () => {
  expect(await check(upstream({ provider: "uchta", models: { a: "b" } }))).toEqual([
    {
      ...{ level: "failure", code: "door-provider-unknown" },
      text: 'door.upstreams.openai-completions.provider names "uchta", which is no provider. Did you mean "uchat"? Correct that name, or add it to models.providers; until then requests of that wire are refused.',
    },
  ]);
});

it("the doctor says which model of the door is passed over, why, and for which other one", async () => {
  const models = { "up-model": "nobody/x", fine: "small", other: "uanth/small", gone: "smal" };
  expect(await check(upstream({ model: "nope/model", models }))).toEqual([
    {
      ...{ level: "warning", code: "door-model-unusable" },
      text: expect.stringMatching(
        /^door\.upstreams\.openai-completions\.models names "nobody\/x" for "up-model", which cannot be asked\. Model "nobody\/x" has an unknown provider "nobody"; .* Correct this; until then uchat\/up-model is asked in its place\.$/,
      ),
    },
    {
      ...{ level: "warning", code: "door-model-unusable" },
      text: expect.stringContaining('Did you mean "uchat/small"? '),
    },
    {
      ...{ level: "warning", code: "door-model-unusable" },
      text: 'door.upstreams.openai-completions.model names "nope/model", which cannot be asked. Model "uchat/nope/model" is not in models.providers.uchat.models; known: up-model, small. Correct this; until then uchat/up-model is asked in its place.',
    },
  ]);
});

it("the doctor says that the door's agent is none of the settings", async () => {
  expect(await check({ agent: "nobody" })).toEqual([
    {
      ...{ level: "warning", code: "door-agent-unknown" },
      text: 'door.agent names "nobody", which is not in agents.list. Correct that name, or add it there; until then clients are answered by the defaults, in sessions of an agent of that name.',
    },
  ]);
});

it("the doctor is silent of settings of the door that hold, and of a door that is shut", async () => {
  expect(await check({ agent: "main" })).toEqual([]);
  expect(await check({ agent: "nobody", enabled: false })).toEqual([]);
  for (const settings of [
    { provider: "uanth" },
    { provider: "uchat", model: "small", models: { a: "uchat/small", b: "small" } },
    { contextWindow: 9000 },
  ])
    expect(await check(upstream(settings))).toEqual([]);
});
