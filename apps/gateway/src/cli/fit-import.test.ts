import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";

/** As OpenClaw writes it, for a home of which nothing else is here. */
const OPENCLAW = {
  agents: {
    defaults: {
      model: { primary: "anthropic/claude-opus-4-6", fallbacks: ["openai/gpt-5.5"] },
      heartbeat: { every: "30m" },
    },
    list: [
      { id: "main", default: true, identity: { name: "Molty" } },
      { id: "odd", model: "nobody/nothing" },
    ],
  },
  channels: { telegram: { enabled: true } },
  gateway: { port: 18789, auth: { mode: "token", token: "short" } },
  plugins: {
    slots: { contextEngine: "lossless-claw", memory: "memory-lancedb" },
    entries: { "lossless-claw": { enabled: true } },
  },
};

const imported = async (variables: Record<string, string> = {}) => {
  const home = await homeWithOwnPort();
  const file = join(home, "openclaw.json");
  await writeFile(file, JSON.stringify(OPENCLAW));
  const argv = ["config", "import", file, "--force", "--json"];
  const { code, output } = await clew(home, argv, variables);
  expect(code).toBe(0);
  return { home, told: JSON.parse(output) };
};

describe("an imported openclaw.json", () => {
  it("leaves a home that answers, and says what was carried, left out and added", async () => {
    const { home, told } = await imported();
    const left = told.ignored.map(({ path }: { path: string }) => path);
    expect(left).toEqual(
      expect.arrayContaining([
        ...["gateway.port", "agents.defaults.heartbeat", "channels", "gateway.auth.token"],
        ...["plugins.slots.contextEngine", "plugins.slots.memory", "agents.list.1.model"],
      ]),
    );
    expect(told.taken).toEqual(["agents.defaults", "agents.list", "plugins.entries"]);
    expect(told.added).toEqual([
      expect.stringMatching(/^offline\/offline is added to .*agents\.defaults\.model .*ANTHROPIC_/),
    ]);
    const { code, errors } = await clew(home, ["chat", "hello"]);
    expect([code, errors]).toEqual([0, expect.stringContaining("ANTHROPIC_API_KEY")]);
  });

  it("gets no model beside those that can be asked", async () => {
    const { told, home } = await imported({ OPENAI_API_KEY: "sk-0000000000000000" });
    expect(told.added).toEqual([]);
    const { output } = await clew(home, ["config", "get", "agents.defaults.model.fallbacks"]);
    expect(JSON.parse(output)).toEqual(["openai/gpt-5.5"]);
  });
});
